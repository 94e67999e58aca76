// A first page: one item, one key. The whole page is built on the same interface.
const at = (id) => document.getElementById(id);
const state = { project: null, item: null, key: null };

async function call(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json", "x-dial": "1" },
    body: JSON.stringify(body),
  };
  const answer = await fetch(`/api/v1/${path}`, options);
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.detail ?? answer.statusText);
  return value;
}

function show(item) {
  const place = at("item");
  place.replaceChildren();
  if (!item) {
    place.textContent = "Nothing is left to ask.";
    return;
  }
  if (item.show.kind === "picture") {
    const picture = new Image();
    picture.alt = item.id;
    picture.src = item.show.url;
    place.append(picture);
  } else {
    const text = document.createElement("pre");
    text.textContent = item.show.text ?? item.show.values.map((value, i) => `${item.show.names?.[i] ?? i}: ${value}`).join("\n");
    place.append(text);
  }
  at("why").textContent = item.why ?? "";
}

async function next() {
  state.project = await call("project");
  at("name").textContent = state.project.name;
  at("state").textContent = `${state.project.labelled} of ${state.project.items} labelled`;
  at("classes").replaceChildren(...state.project.classes.map((known) => {
    const button = document.createElement("button");
    const key = document.createElement("kbd");
    key.textContent = known.key;
    button.append(key, known.name);
    button.addEventListener("click", () => label(known.id));
    return button;
  }));
  const asked = await call("next", {});
  state.item = asked.items[0] ?? null;
  state.key = crypto.randomUUID();
  show(state.item);
}

async function label(id) {
  if (!state.item) return;
  const { item, key } = state;
  at("saved").textContent = "saving";
  try {
    await call("decisions", { key, decisions: [{ kind: "label", item: item.id, classes: [{ class: id }] }] });
    at("saved").textContent = `saved: ${item.id}`;
    await next();
  } catch (error) {
    at("saved").textContent = `${error.message}`;
  }
}

at("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  try {
    await call("decisions", { key: crypto.randomUUID(), decisions: [{ kind: "add-class", name: form.elements.name.value.trim() }] });
    form.reset();
    await next();
  } catch (error) {
    at("saved").textContent = error.message;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.target instanceof HTMLInputElement) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const known = state.project?.classes.find((one) => one.key === event.key);
  if (known) label(known.id);
});

next().catch((error) => { at("saved").textContent = error.message; });
