// Many points on a canvas, by WebGL 2: positions are sent once, colours whenever the belief changes, and each change
// fades from the old colours to the new ones on the graphics card.

const VERTEX = `#version 300 es
in vec2 place; in vec4 before; in vec4 after; in float mark;
uniform vec2 centre; uniform vec2 scale; uniform float size; uniform float fade; uniform float pass_;
out vec4 hue; out float ringed; flat out int shape;
void main() {
  gl_Position = vec4((place - centre) * scale, 0.0, 1.0);
  hue = mix(before, after, fade);
  ringed = mod(mark, 2.0);
  shape = int(mark) / 2;
  bool wanted = (pass_ > 0.5) == (ringed > 0.5);
  gl_PointSize = wanted ? (ringed > 0.5 ? size * 1.7 + 3.0 : size) : 0.0;
  if (!wanted) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 hue; in float ringed; flat in int shape; uniform vec3 ring; out vec4 colour;
// 1 on the edge of the shape, less within: disc, square, triangle, diamond, plus, cross, triangle upside down, bar.
float reach(vec2 p) {
  vec2 q = abs(p);
  if (shape == 1) return 1.12 * max(q.x, q.y);
  if (shape == 2 || shape == 6) {
    float y = shape == 2 ? p.y : -p.y;
    return max(y / 0.8, (0.884 * q.x - 0.467 * y) / 0.467);
  }
  if (shape == 3) return q.x + q.y;
  if (shape == 5) q = abs(vec2(p.x + p.y, p.x - p.y)) * 0.7071;
  if (shape == 4 || shape == 5) return min(max(q.x / 0.4, q.y), max(q.y / 0.4, q.x));
  if (shape == 7) return max(q.x, q.y / 0.45);
  return length(p);
}
void main() {
  float r = reach(2.0 * gl_PointCoord - 1.0);
  if (r > 1.0) discard;
  float edge = smoothstep(1.0, 0.82, r);
  vec3 inner = ringed > 0.5 && r > 0.62 ? ring : hue.rgb;
  colour = vec4(inner, hue.a * edge);
}`;

export class Points {
  /** @param {HTMLCanvasElement} canvas @throws If there is no WebGL 2. */
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("no WebGL 2");
    this.canvas = canvas;
    this.gl = gl;
    this.count = 0;
    this.centre = [0, 0];
    this.zoom = 1;
    /** @type {[number, number, number]} */
    this.ring = [0, 0, 0];
    this.fadeStart = -Infinity;
    this.asked = false;
    this.program = this.compile();
    this.buffers = { place: this.buffer("place", 2, gl.FLOAT), before: this.buffer("before", 4, gl.UNSIGNED_BYTE), after: this.buffer("after", 4, gl.UNSIGNED_BYTE), mark: this.buffer("mark", 1, gl.UNSIGNED_BYTE) };
    /** @type {Uint8Array|null} */
    this.colours = null;
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  compile() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(/** @type {number} */ (kind));
      if (!shader) throw new Error("no shader");
      gl.shaderSource(shader, /** @type {string} */ (source));
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "no program");
    gl.useProgram(program);
    return program;
  }

  /** @param {string} name @param {number} width @param {number} kind */
  buffer(name, width, kind) {
    const { gl } = this;
    const buffer = gl.createBuffer();
    const place = gl.getAttribLocation(this.program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, width, kind, kind === gl.UNSIGNED_BYTE && width === 4, 0, 0);
    return buffer;
  }

  /** @param {Float32Array} places Pairs, in [-1, 1]. */
  setPlaces(places) {
    const { gl } = this;
    this.count = places.length / 2;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.place);
    gl.bufferData(gl.ARRAY_BUFFER, places, gl.DYNAMIC_DRAW);
    this.draw();
  }

  /** @param {Uint8Array} colours Four bytes each. @param {Uint8Array} marks Bit 0 where a point is labelled, above it its shape. @param {boolean} calmly Whether to fade. */
  setColours(colours, marks, calmly) {
    const { gl } = this;
    const before = this.colours?.length === colours.length && calmly ? this.colours : colours;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.before);
    gl.bufferData(gl.ARRAY_BUFFER, before, gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.after);
    gl.bufferData(gl.ARRAY_BUFFER, colours, gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.mark);
    gl.bufferData(gl.ARRAY_BUFFER, marks, gl.DYNAMIC_DRAW);
    this.colours = colours;
    this.fadeStart = before === colours ? -Infinity : performance.now();
    this.draw();
  }

  /** Draws soon, once, however often it is asked. */
  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.now(); });
  }

  /** How a place of the map becomes one of the screen: from [-1, 1] to clip space. */
  scale() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const side = Math.min(w, h) || 1;
    return [0.94 * this.zoom * (side / (w || 1)), 0.94 * this.zoom * (side / (h || 1))];
  }

  now() {
    const { gl, canvas } = this;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [w, h] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    gl.viewport(0, 0, w, h);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!this.count || !this.colours) return;
    const fade = Math.min(1, (performance.now() - this.fadeStart) / 450);
    const uniform = (/** @type {string} */ name) => gl.getUniformLocation(this.program, name);
    const [sx, sy] = this.scale();
    gl.uniform2f(uniform("centre"), this.centre[0], this.centre[1]);
    gl.uniform2f(uniform("scale"), sx, sy);
    gl.uniform1f(uniform("fade"), fade);
    gl.uniform3f(uniform("ring"), ...this.ring);
    gl.uniform1f(uniform("size"), ratio * this.pointSize());
    for (const pass of [0, 1]) {
      gl.uniform1f(uniform("pass_"), pass);
      gl.drawArrays(gl.POINTS, 0, this.count);
    }
    if (fade < 1) this.draw();
  }

  pointSize() {
    const crowd = Math.max(2.2, Math.min(9, 260 / Math.sqrt(this.count || 1)));
    return crowd * Math.min(2.5, Math.max(1, Math.sqrt(this.zoom)));
  }

  /** @param {number} x @param {number} y From the map to pixels of the canvas. */
  toScreen(x, y) {
    const [sx, sy] = this.scale();
    const { clientWidth: w, clientHeight: h } = this.canvas;
    return [((x - this.centre[0]) * sx + 1) * (w / 2), (1 - (y - this.centre[1]) * sy) * (h / 2)];
  }

  /** @param {number} px @param {number} py From pixels to the map. */
  toMap(px, py) {
    const [sx, sy] = this.scale();
    const { clientWidth: w, clientHeight: h } = this.canvas;
    return [this.centre[0] + ((2 * px) / w - 1) / sx, this.centre[1] + (1 - (2 * py) / h) / sy];
  }
}

/** Finds the point near a place: a grid over the map. */
export class Finder {
  /** @param {Float32Array} places */
  constructor(places) {
    this.places = places;
    const n = places.length / 2;
    this.side = Math.max(1, Math.min(512, Math.round(Math.sqrt(n / 2))));
    const cell = this.cell.bind(this);
    this.starts = new Uint32Array(this.side * this.side + 1);
    for (let i = 0; i < n; i++) this.starts[cell(places[2 * i], places[2 * i + 1]) + 1]++;
    for (let i = 0; i < this.side * this.side; i++) this.starts[i + 1] += this.starts[i];
    const next = this.starts.slice();
    this.order = new Uint32Array(n);
    for (let i = 0; i < n; i++) this.order[next[cell(places[2 * i], places[2 * i + 1])]++] = i;
  }

  /** @param {number} x @param {number} y */
  cell(x, y) {
    const of = (/** @type {number} */ v) => Math.min(this.side - 1, Math.max(0, Math.floor(((v + 1) / 2) * this.side)));
    return of(y) * this.side + of(x);
  }

  /** @param {number} x @param {number} y @param {number} radius @returns {number} A row, or -1. */
  nearest(x, y, radius) {
    let best = -1, least = radius * radius;
    const step = 2 / this.side;
    const reach = Math.ceil(radius / step);
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const cell = this.cell(x + dx * step, y + dy * step);
        for (let k = this.starts[cell]; k < this.starts[cell + 1]; k++) {
          const i = this.order[k];
          const d = (this.places[2 * i] - x) ** 2 + (this.places[2 * i + 1] - y) ** 2;
          if (d < least) [least, best] = [d, i];
        }
      }
    }
    return best;
  }
}

/** Rows whose point lies within a line that closes itself. @param {Float32Array} places @param {number[][]} line */
export function inside(places, line) {
  const found = [];
  const xs = line.map(([x]) => x), ys = line.map(([, y]) => y);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  for (let i = 0; i < places.length / 2; i++) {
    const [x, y] = [places[2 * i], places[2 * i + 1]];
    if (x < left || x > right || y < low || y > high) continue;
    let within = false;
    for (let a = 0, b = line.length - 1; a < line.length; b = a++) {
      if (ys[a] > y !== ys[b] > y && x < ((xs[b] - xs[a]) * (y - ys[a])) / (ys[b] - ys[a]) + xs[a]) within = !within;
    }
    if (within) found.push(i);
  }
  return found;
}
