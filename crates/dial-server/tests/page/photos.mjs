// Photos as cameras take them: whole in every window and at every zoom, upright, sharp.

import fs from "node:fs";
import path from "node:path";
import { browserOf, equal, folder, hold, open, run, serve, test, until } from "./harness.mjs";

const place = folder();

/** The corners of every picture, from the upper left clockwise: whatever is cut off or turned, they tell. */
const CORNERS = { red: [220, 30, 30], green: [30, 170, 60], blue: [40, 60, 220], yellow: [235, 215, 40] };

/**
 * JPEG files that a canvas encodes: a scene of sky and ground with a frame of its own and a colour in every corner. `orientation`
 * is that of EXIF: the pixels are stored as a camera held that way stores them, the tag says how to turn them back.
 */
async function photos(wanted) {
  const context = await browserOf();
  const page = await context.newPage();
  for (const { file, width, height, orientation = 1, kind = "image/jpeg" } of wanted) {
    const data = await page.evaluate(async ([w, h, turned, type, corners]) => {
      const swapped = turned > 4;
      const canvas = Object.assign(document.createElement("canvas"), { width: swapped ? h : w, height: swapped ? w : h });
      const draw = canvas.getContext("2d");
      // From where a point is seen to where it is stored, by the table of orientations in the EXIF standard (2.3, tag 274).
      const stored = { 1: [1, 0, 0, 1, 0, 0], 2: [-1, 0, 0, 1, w, 0], 3: [-1, 0, 0, -1, w, h], 4: [1, 0, 0, -1, 0, h],
        5: [0, 1, 1, 0, 0, 0], 6: [0, -1, 1, 0, 0, w], 7: [0, -1, -1, 0, h, w], 8: [0, 1, -1, 0, h, 0] };
      draw.setTransform(...stored[turned]);
      const sky = draw.createLinearGradient(0, 0, 0, h);
      for (const [at, colour] of [[0, "#7db3e8"], [0.6, "#dfe9f2"], [0.6, "#7a8f5a"], [1, "#3f4d2c"]]) sky.addColorStop(at, colour);
      draw.fillStyle = sky;
      draw.fillRect(0, 0, w, h);
      const side = Math.max(2, Math.round(Math.min(w, h) / 5));
      const at = { red: [0, 0], green: [w - side, 0], blue: [w - side, h - side], yellow: [0, h - side] };
      for (const [name, [x, y]] of Object.entries(at)) {
        draw.fillStyle = `rgb(${corners[name]})`;
        draw.fillRect(x, y, side, side);
      }
      const blob = await new Promise((resolve) => canvas.toBlob(resolve, type, 0.9));
      const reader = new FileReader();
      await new Promise((resolve) => { reader.onload = resolve; reader.readAsDataURL(blob); });
      return reader.result.split(",")[1];
    }, [width, height, orientation, kind, CORNERS]);
    const bytes = Buffer.from(data, "base64");
    fs.writeFileSync(file, orientation === 1 ? bytes : Buffer.concat([bytes.subarray(0, 2), exif(orientation), bytes.subarray(2)]));
  }
  await context.close();
}

/** The segment that a camera writes: a TIFF header, and in its first directory the tag of orientation alone. */
function exif(orientation) {
  const tiff = Buffer.from([0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]);
  const body = Buffer.concat([Buffer.from("Exif\0\0"), tiff]);
  return Buffer.concat([Buffer.from([0xff, 0xe1, 0, body.length + 2]), body]);
}

/** A project of photos, by their names; the first class has a label of each half, so that the model has something to say. */
async function project(name, pictures) {
  const pool = path.join(place, name);
  fs.mkdirSync(pool);
  await photos(pictures.map((one) => ({ ...one, file: path.join(pool, one.name) })));
  const made = path.join(place, `${name}.dial`);
  run("new", pool, "--classes", "beach,forest,town", "--ask-once", "none", "--project", made);
  return made;
}

/** Brings an item on screen: whatever was answered last comes back with undo. */
async function bring(page, server, id) {
  const { labelled } = await server.get("project");
  await server.post("decisions", { key: `bring ${id} ${Math.random()}`, decisions: [{ kind: "label", item: id, classes: [{ class: 0 }] }] });
  await until("the page knows", async () => (await page.locator("#count").evaluate((one) => one.textContent)).startsWith(`${labelled + 1} of`));
  // It may have been on screen: then another one is asked now.
  await page.waitForTimeout(300);
  await page.keyboard.press("Backspace");
  await until(`${id} on screen`, async () => (await page.locator(".item > footer bdi").first().textContent({ timeout: 500 }).catch(() => "")) === id);
  await ready(page, ".item .frame img");
}

/** Shows a class in Bulk, and says how many tiles it has once they are those that the server would list. */
async function tilesOf(page, server, id) {
  await page.goto(`${server.origin}/#bulk`);
  await page.waitForSelector(".bulk-view select");
  await page.selectOption(".bulk-view select", String(id));
  return until("the tiles of the class", async () => {
    const listed = (await server.get(`items?class=${id}&open=true&limit=300`)).rows.map((row) => row.id).sort();
    const shown = await page.locator(".tile").evaluateAll((all) => all.map((one) => one.title).sort());
    return JSON.stringify(shown) === JSON.stringify(listed) && [shown.length];
  }).then(([count]) => count);
}

/** Waits until a picture is not only there but drawn. */
const ready = (page, selector) => until(`${selector} is there`, () => page.evaluate(async (which) => {
  const one = document.querySelector(which);
  if (!one?.complete || !one.naturalWidth || !one.getBoundingClientRect().width) return false;
  await one.decode();
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  return true;
}, selector));

/** What is seen in a part of the window: where each colour of a corner lies, as shares of the part, and the box of them all in pixels. */
async function seen(page, selector, index = 0) {
  const box = await page.locator(selector).nth(index).boundingBox();
  const shot = await page.screenshot({ clip: box, scale: "device" });
  const helper = await page.context().browser().newPage();
  const found = await helper.evaluate(async ([data, corners]) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const draw = canvas.getContext("2d");
    draw.drawImage(image, 0, 0);
    const { data: pixels } = draw.getImageData(0, 0, image.width, image.height);
    const boxes = {};
    for (let at = 0; at < pixels.length; at += 4) {
      for (const [name, rgb] of Object.entries(corners)) {
        if (rgb.some((value, i) => Math.abs(value - pixels[at + i]) > 36)) continue;
        const [x, y] = [(at / 4) % image.width, Math.floor(at / 4 / image.width)];
        const one = boxes[name] ??= { left: x, right: x, top: y, bottom: y, pixels: 0 };
        Object.assign(one, { left: Math.min(one.left, x), right: Math.max(one.right, x), top: Math.min(one.top, y), bottom: Math.max(one.bottom, y), pixels: one.pixels + 1 });
      }
    }
    return { boxes, width: image.width, height: image.height };
  }, [shot.toString("base64"), CORNERS]);
  await helper.close();
  return found;
}

/** Where on the window something stands in a colour. */
async function coloured(page, selector) {
  const box = await page.locator(selector).boundingBox();
  const shot = await page.screenshot({ clip: box, scale: "css" });
  const helper = await page.context().browser().newPage();
  const found = await helper.evaluate(async (data) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const draw = new OffscreenCanvas(image.width, image.height).getContext("2d");
    draw.drawImage(image, 0, 0);
    const { data: pixels } = draw.getImageData(0, 0, image.width, image.height);
    const places = [];
    for (let at = 0; at < pixels.length; at += 4) {
      const rgb = [...pixels.slice(at, at + 3)];
      if (Math.max(...rgb) - Math.min(...rgb) > 60) places.push([(at / 4) % image.width, Math.floor(at / 4 / image.width)]);
    }
    return places;
  }, shot.toString("base64"));
  await helper.close();
  return found.map(([x, y]) => [box.x + x, box.y + y]);
}

/** Whether all four corners are in sight, each in its place, and the picture has its proportions. */
function whole(found, width, height, what, slack = 0.04) {
  const { boxes } = found;
  for (const name of Object.keys(CORNERS)) hold(boxes[name], `${what}: the ${name} corner is not in sight`);
  const { red, green, blue, yellow } = boxes;
  const middle = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
  hold(middle(red)[0] < middle(green)[0] && middle(yellow)[0] < middle(blue)[0] && middle(red)[1] < middle(yellow)[1] && middle(green)[1] < middle(blue)[1],
    `${what}: the corners are not in their places: ${JSON.stringify(boxes)}`);
  const [w, h] = [Math.max(green.right, blue.right) - Math.min(red.left, yellow.left) + 1, Math.max(blue.bottom, yellow.bottom) - Math.min(red.top, green.top) + 1];
  // Drawn small, one pixel more or less is much of a short side.
  const off = Math.abs((w / h) / (width / height) - 1);
  hold(off < slack + 3 / Math.min(w, h), `${what}: drawn ${w} x ${h}, not like ${width} x ${height}`);
  return [w, h];
}

const SHAPES = [
  { name: "portrait.jpg", width: 900, height: 1200 }, { name: "landscape.jpg", width: 1200, height: 900 }, { name: "wide.jpg", width: 1920, height: 1080 },
  { name: "panorama.jpg", width: 3600, height: 600 }, { name: "strip.jpg", width: 300, height: 2400 }, { name: "square.jpg", width: 280, height: 280 },
  { name: "tiny.png", width: 20, height: 20, kind: "image/png" }, { name: "camera.jpg", width: 4032, height: 3024 },
];
/** Windows: of a desk, of a large screen, of a phone held both ways, and of a desk at 200 % zoom, which is half of it at twice the density. */
const WINDOWS = [
  ["1440x900", { viewport: { width: 1440, height: 900 } }], ["1920x1080", { viewport: { width: 1920, height: 1080 } }],
  ["a phone", { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3 }], ["a phone held sideways", { viewport: { width: 844, height: 390 }, deviceScaleFactor: 3 }],
  ["200 % zoom", { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 }],
];

test("photos: every shape is whole in every window, and again after zooming", async () => {
  const server = await serve(await project("shapes", SHAPES));
  for (const [name, options] of WINDOWS) {
    const page = await open({ ...server, link: await server.post("launch", {}) }, options);
    await page.waitForSelector(".item .frame img");
    for (const { name: id, width, height } of SHAPES) {
      const what = `${id} in ${name}`;
      await bring(page, server, id);
      const [w, h] = whole(await seen(page, ".item .frame"), width, height, what);
      const frame = await page.locator(".item .frame").boundingBox();
      // It is as large as the frame lets it be: one side fills it. A few pixels are enlarged to 30rem at most.
      const density = options.deviceScaleFactor ?? 1;
      const most = Math.max(width, height) < 100 ? 480 : Infinity;
      hold(Math.max(w / density / Math.min(most, frame.width), h / density / Math.min(most, frame.height)) > 0.9, `${what}: ${w / density} x ${h / density} in a frame of ${frame.width} x ${frame.height}`);
      // Larger, dragged, and whole again; on a desk and on a phone.
      if (!["1440x900", "a phone"].includes(name)) continue;
      await page.click(".item .tools button[aria-label='Larger']");
      await page.click(".item .tools button[aria-label='Larger']");
      await page.mouse.move(frame.x + frame.width / 2, frame.y + frame.height / 2);
      await page.mouse.down();
      await page.mouse.move(frame.x + frame.width / 2 + 40, frame.y + frame.height / 2 + 30, { steps: 3 });
      await page.mouse.up();
      await page.click(".item .tools button[aria-label='Whole picture']");
      whole(await seen(page, ".item .frame"), width, height, `${what}, whole again`);
    }
    equal(page.trouble, [], "no error");
    await page.context().close();
  }
  // In bulk all have the same place, the narrow ones too.
  for (const [i, id] of ["portrait.jpg", "panorama.jpg"].entries()) await server.post("decisions", { key: `two ${id}`, decisions: [{ kind: "label", item: id, classes: [{ class: i }] }] });
  await until("the model follows", async () => { const now = await server.get("project"); return now.model_ready && now.model_version === now.version; });
  const page = await open({ ...server, link: await server.post("launch", {}) });
  const tiles = [];
  for (const class_ of [0, 1, 2]) {
    await tilesOf(page, server, class_);
    tiles.push(...await page.locator(".tile").evaluateAll((all) => all.map((tile) => { const [a, b] = [tile, tile.querySelector(".thumb")].map((one) => one.getBoundingClientRect()); return [tile.title, Math.round(b.width - b.height), Math.round(a.width - b.width) < 20]; })));
  }
  equal(tiles.map(([id]) => id).sort(), SHAPES.map((one) => one.name).filter((id) => !["portrait.jpg", "panorama.jpg"].includes(id)).sort(), "tiles");
  equal(tiles.filter(([, off, full]) => off || !full), [], "thumbnails that do not fill their tile");
  await page.context().close();
  await server.stop();
});

test("photos: held any way, they are upright large, small, on the map and in bulk", async () => {
  const turned = Array.from({ length: 8 }, (_, i) => ({ name: `held-${i + 1}.jpg`, width: 480, height: 320, orientation: i + 1 }));
  const server = await serve(await project("held", turned));
  const page = await open(server, { viewport: { width: 1440, height: 900 } });
  await page.waitForSelector(".item .frame img");
  // What the test wrote is what cameras write: the browser, which reads the tag by itself, sees it upright.
  for (const { name } of turned) {
    const data = fs.readFileSync(path.join(place, "held", name)).toString("base64");
    const size = await page.evaluate(async (bytes) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))], { type: "image/jpeg" }));
      const draw = new OffscreenCanvas(image.width, image.height).getContext("2d");
      draw.drawImage(image, 0, 0);
      return [image.width, image.height, ...draw.getImageData(3, 3, 1, 1).data.slice(0, 3)];
    }, data);
    equal(size.slice(0, 2), [480, 320], `${name} in the browser`);
    hold(CORNERS.red.every((value, i) => Math.abs(value - size[2 + i]) < 20), `${name}: ${size.slice(2)} in its upper left corner`);
  }
  for (const { name } of turned) {
    await bring(page, server, name);
    whole(await seen(page, ".item .frame"), 480, 320, name);
  }
  // In bulk, six of them; two tell the classes.
  for (const [i, id] of ["held-1.jpg", "held-6.jpg"].entries()) await server.post("decisions", { key: `two ${id}`, decisions: [{ kind: "label", item: id, classes: [{ class: i }] }] });
  await until("the model follows", async () => { const now = await server.get("project"); return now.model_ready && now.model_version === now.version; });
  const seenIn = new Set();
  for (const class_ of [0, 1, 2]) {
    if (!await tilesOf(page, server, class_)) continue;
    await page.click("text=Tick all");
    await until("the pictures", () => page.evaluate(() => [...document.querySelectorAll(".tile img")].every((one) => one.complete && one.naturalWidth)));
    await page.waitForTimeout(200);
    for (let i = 0; i < await page.locator(".tile").count(); i++) {
      const id = await page.locator(".tile").nth(i).getAttribute("title");
      whole(await seen(page, ".tile .thumb", i), 480, 320, `${id} in bulk`, 0.06);
      seenIn.add(id);
    }
  }
  equal(seenIn.size, 6, "tiles");
  // On the map: the tip at a point, and the panel of a chosen one.
  await page.goto(`${server.origin}/#map`);
  await page.waitForSelector("canvas.map[data-version]");
  await page.waitForSelector("text=neighbours stay together");
  const points = await until("points in colour", async () => { const found = await coloured(page, "canvas.map"); return found.length && found; });
  await until("a tip", async () => {
    const [x, y] = points[Math.floor(Math.random() * points.length)];
    await page.mouse.move(x, y, { steps: 3 });
    // Another move would end what this one has asked for.
    return page.locator(".tip .thumb").waitFor({ timeout: 1500 }).then(() => true, () => false);
  }, 60000);
  await ready(page, ".tip .thumb");
  whole(await seen(page, ".tip .thumb"), 480, 320, "on the map", 0.06);
  await page.mouse.move(2, 2);
  await page.focus("canvas.map");
  await page.keyboard.press("Enter");
  await ready(page, ".panel .frame img");
  whole(await seen(page, ".panel .frame"), 480, 320, "beside the map");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("photos: as many pixels as the screen shows, and more of them when somebody looks closer", async () => {
  const server = await serve(await project("sharp", [{ name: "camera.jpg", width: 4032, height: 3024 }, { name: "forty.jpg", width: 7728, height: 5184 }, { name: "tiny.png", width: 20, height: 16, kind: "image/png" }]));
  for (const density of [1, 2]) {
    const page = await open({ ...server, link: await server.post("launch", {}) }, { viewport: { width: 1440, height: 900 }, deviceScaleFactor: density });
    await page.waitForSelector(".item .frame img");
    const pixels = () => page.locator(".item .frame img").evaluate((one) => [one.naturalWidth, one.naturalHeight]);
    const drawn = async (closer) => {
      const frame = await page.locator(".item .frame").boundingBox();
      const [width, height] = await pixels();
      return Math.min(frame.width / width, frame.height / height) * density * closer;
    };
    for (const [id, width, height] of [["camera.jpg", 4032, 3024], ["forty.jpg", 7728, 5184]]) {
      await bring(page, server, id);
      whole(await seen(page, ".item .frame"), width, height, `${id}, ${density}`);
      await until(`${id}: no pixel of it takes more than one of the screen`, async () => (await drawn(1)) <= 1.001);
      const before = (await pixels())[0];
      for (let step = 0; step < 3; step++) await page.click(".item .tools button[aria-label='Larger']");
      await until(`${id}: more pixels at ${density}`, async () => (await pixels())[0] > before);
      await page.click(".item .tools button[aria-label='Whole picture']");
    }
    await bring(page, server, "tiny.png");
    equal(await page.locator(".item .frame img").evaluate((one) => getComputedStyle(one).imageRendering), "pixelated", "a few pixels, enlarged");
    const [w, h] = whole(await seen(page, ".item .frame"), 20, 16, "tiny.png");
    hold(Math.max(w, h) / density >= 400, `drawn ${w} x ${h} at ${density}`);
    equal(page.trouble, [], "no error");
    await page.context().close();
  }
  await server.stop();
});
