// Opens dialogs, asks the API for changes, and shows the page anew after each. Everything that is shown is
// rendered by the server; without this script the page can be read but changes nothing.
"use strict";

const notice = document.getElementById("notice");
document.body.classList.add("scripted");

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.opens) document.getElementById(button.dataset.opens).showModal();
  if (button.dataset.closes !== undefined) button.closest("dialog").close();
  if (button.dataset.method) change(button);
});

// Asks for the change that a button stands for, once however often it is pressed.
async function change(button) {
  if (button.getAttribute("aria-busy") === "true") return;
  const label = button.textContent;
  button.setAttribute("aria-busy", "true");
  button.textContent = button.dataset.busy;
  const answer = await ask(button.dataset.method, button.dataset.url);
  button.removeAttribute("aria-busy");
  button.textContent = label;
  button.closest("dialog")?.close();
  if (answer.signedOut || button.dataset.leaves !== undefined) return location.assign("/");
  await refresh();
  say(answer.ok ? "good" : "bad", ...words(button, answer));
}

// The state that the page shows goes along, so that nothing is changed that was not seen.
async function ask(method, url) {
  const headers = { "X-Vak-CSRF": document.body.dataset.csrf };
  const etag = document.querySelector("main").dataset.etag;
  if (method === "DELETE" && etag) headers["If-Match"] = etag;
  try {
    const response = await fetch(url, { method, headers });
    const text = await response.text();
    return {
      ok: response.ok,
      status: response.status,
      signedOut: response.status === 401,
      body: text ? JSON.parse(text) : {},
    };
  } catch {
    return { ok: false, status: 0, body: {} };
  }
}

// What to say about an answer: a title and a sentence.
function words(button, { ok, status, body }) {
  if (status === 0) return ["The server does not answer", "Is `vak serve` still running?"];
  if (status === 412) return ["Nothing was changed", "Something else has changed since this page was loaded. It shows the present state now; look again."];
  if (!ok) return [body.title || "That did not work", sentences(body.detail, body.hint, `in the server's log it is request ${body.request_id}`)];
  const failed = body.failed || [];
  if (failed.length) return ["Not everything could be removed", sentences(...failed.map((one) => `${one.name ?? `the ${one.scope} store`}: ${one.problem.detail}`))];
  const left = (body.network_allow || []).filter((entry) => !entry.present);
  if (left.length) return [button.dataset.done, sentences(...left.map((entry) => `its network_allow entry was not put back: ${entry.reason}`))];
  if (body.removed && !body.removed.length) return ["There was nothing to remove", "Somebody else did it already."];
  return [button.dataset.done, button.dataset.after];
}

// The API's phrases, as sentences.
function sentences(...phrases) {
  return phrases.filter(Boolean).map((phrase) => `${phrase[0].toUpperCase()}${phrase.slice(1)}.`).join(" ");
}

function say(kind, title, text) {
  const panel = document.createElement("div");
  const strong = document.createElement("strong");
  panel.className = `panel ${kind}`;
  strong.textContent = title;
  panel.append(strong, text || "");
  notice.replaceChildren(panel);
  notice.focus();
}

// Shows the present state in place of the old one.
async function refresh() {
  try {
    const response = await fetch("/");
    if (response.status === 401) return location.assign("/");
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    document.body.dataset.csrf = next.body.dataset.csrf;
    document.querySelector("main").replaceWith(next.querySelector("main"));
    ready();
  } catch {
    // What failed is said by whoever asked for the refresh; the old state stays.
  }
}

// Fetches the parts that take longer, and writes times as this reader's clock has them.
async function ready() {
  for (const time of document.querySelectorAll("time")) {
    time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
  for (const part of document.querySelectorAll("[data-load]")) {
    part.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(part.dataset.load);
      if (!response.ok) throw new Error();
      const loaded = new DOMParser().parseFromString(await response.text(), "text/html");
      part.replaceChildren(...loaded.body.childNodes);
    } catch {
      part.querySelector(".loading")?.setAttribute("hidden", "");
      part.querySelector(".unloaded")?.removeAttribute("hidden");
    }
    part.setAttribute("aria-busy", "false");
  }
}

ready();
