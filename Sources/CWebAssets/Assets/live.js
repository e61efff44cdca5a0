// Applies changes from the server to the page. This script uses the names of regions and the keys of rows,
// and the meaning of one region: the text that is read aloud. The event stream is open only while a page is visible.
// With shared workers, all windows of a browser in one language share it.
import { doubt, makeSure, server, trust } from './server.js';

const body = document.body;
const lost = document.getElementById('lost');
const speaker = document.getElementById('speaker');
let follow = null;
let isFollowing = false;

const region = (name) => document.querySelector(`[data-region="${CSS.escape(name)}"]`);

function parsed(html, parent) {
  // Table rows are parsed correctly only within a table.
  const range = document.createRange();
  range.selectNodeContents(parent);
  return range.createContextualFragment(html);
}

// Changes a node into `fresh` and keeps equal parts, so that a press, typed text and ticked boxes survive
// changes of other parts. A form is replaced if its command has changed, so that a press never sends a command
// that the user has not seen.
function become(old, fresh) {
  if (old.nodeName !== fresh.nodeName || (old.nodeName === 'FORM' && order(old) !== order(fresh))) return old.replaceWith(fresh);
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== 'aria-busy') old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  becomeInside(old, fresh);
}

function becomeInside(old, fresh) {
  const kept = [...old.childNodes];
  const wanted = [...fresh.childNodes];
  wanted.forEach((child, place) => (kept[place] ? become(kept[place], child) : old.append(child)));
  for (const child of kept.slice(wanted.length)) child.remove();
}

// The command of a form: its address and hidden fields, except the idempotency key.
const order = (form) => [form.getAttribute('action'), ...form.querySelectorAll('input[type="hidden"]:not([name="key"])')].map(
  (part) => part?.value ?? part).join('\n');

const rowOf = (list, key) => [...list.children].find((row) => row.dataset.key === key);

function place(list, key, html, before) {
  const fresh = parsed(html, list).firstElementChild;
  if (!fresh) return;
  const old = rowOf(list, key);
  const next = before === '' ? null : rowOf(list, before) ?? null;
  if (old) become(old, fresh);
  else fresh.classList.add('new');
  if (!old || (old !== next && old.nextElementSibling !== next)) list.insertBefore(old ?? fresh, next);
}

function replaceAll(list, rows) {
  const keys = new Set(rows.map(([key]) => key));
  const olds = new Map();
  for (const row of [...list.children]) {
    if (keys.has(row.dataset.key)) olds.set(row.dataset.key, row);
    else row.remove();
  }
  let next = list.firstElementChild;
  for (const [key, html] of rows) {
    const fresh = parsed(html, list).firstElementChild;
    if (!fresh) continue;
    const old = olds.get(key);
    if (old) become(old, fresh);
    if (old && old === next) next = next.nextElementSibling;
    else list.insertBefore(old ?? fresh, next);
  }
}

// Rows that differ only in their key arrive as the index of a template. In the template, U+007F stands for the
// key, because documents do not contain this character.
function spelledOut(rows, looks) {
  for (const row of rows) {
    if (typeof row[1] === 'number') row[1] = looks[row[1]].replaceAll('\x7f', () => row[0]);
  }
  return rows;
}

function apply(change) {
  const focused = document.activeElement?.id;
  for (const [name, html] of Object.entries(change.blocks ?? {})) {
    const block = region(name);
    if (block) becomeInside(block, parsed(html, block));
  }
  for (const [name, rows] of Object.entries(change.rows ?? {})) {
    const list = region(name);
    if (!list) continue;
    const tail = list.hasAttribute('data-tail') && list.scrollHeight - list.scrollTop - list.clientHeight < 40;
    const end = list.hasAttribute('data-strip') && list.scrollWidth - list.scrollLeft - list.clientWidth < 80;
    if (rows.all) replaceAll(list, spelledOut(rows.all, change.looks));
    else {
      for (const key of rows.gone) rowOf(list, key)?.remove();
      for (const [key, html, before] of spelledOut(rows.set, change.looks)) place(list, key, html, before);
    }
    if (tail) list.scrollTop = list.scrollHeight;
    if (end) list.scrollLeft = list.scrollWidth;
  }
  if (focused && document.activeElement?.id !== focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
  document.dispatchEvent(new CustomEvent('bank:change', { detail: change }));
  speakSoon();
}

// Announces at most one text a second to screen readers.
let spokenAt = 0;
let speaking = 0;
function speakSoon() {
  if (speaking) return;
  speaking = setTimeout(() => {
    speaking = 0;
    spokenAt = performance.now();
    const text = region('spoken')?.textContent.trim() ?? '';
    if (speaker && speaker.textContent !== text) speaker.textContent = text;
  }, Math.max(0, 1000 - (performance.now() - spokenAt)));
}

function say(text) {
  if (!lost) return;
  lost.hidden = !text;
  lost.textContent = text;
  if (body.classList.toggle('away', text !== '') === false) document.dispatchEvent(new CustomEvent('bank:back'));
}

function hear(kind, data) {
  if (!isFollowing) return;
  switch (kind) {
    case 'open':
      trust();
      return say('');
    case 'lost':
      doubt();
      return say(body.dataset.lost);
    case 'stranger':
      doubt();
      return say(body.dataset.stranger);
    case 'refused':
      say(body.dataset.lost);
      return void lookAgain();
    default:
      say('');
      apply(JSON.parse(data));
  }
}

// Reloads a page whose session has ended, and stops following one that does not exist any more.
async function lookAgain() {
  const answer = await fetch(location.href, { method: 'GET' }).catch(() => null);
  if (answer?.status === 401) location.reload();
  else if (answer && !answer.ok && answer.status < 500) close();
}

// The stream shared by all windows. A shared worker whose scripts could not be loaded never sends a message. It
// is replaced after the server has been verified, because the browser sends the cookie when it loads scripts.
function shared() {
  let port = null;
  let last = null;
  const start = () => {
    const worker = new SharedWorker('/assets/shared.js', { type: 'module', name: 'bank' });
    worker.onerror = () => {
      port = null;
      hear('lost');
      retry();
    };
    port = worker.port;
    port.onmessage = ({ data }) => hear(data.kind, data.data);
    if (last) port.postMessage(last);
  };
  const retry = () => setTimeout(async () => {
    doubt();
    const isKnown = await makeSure().catch(() => null);
    if (isKnown) return start();
    hear(isKnown === false ? 'stranger' : 'lost');
    retry();
  }, 1000);
  start();
  return (page) => {
    last = page && { page, lang: body.dataset.lang, server };
    port?.postMessage(last);
  };
}

// Source of the events: the shared stream, or a stream of this page in a browser without shared workers.
async function way() {
  if (typeof SharedWorker === 'function') {
    try { return shared(); } catch { /* The browser allows no shared worker: use a stream of this page. */ }
  }
  const { Stream } = await import('./stream.js');
  const stream = new Stream(body.dataset.lang, (page, kind, data) => hear(kind, data));
  return (page) => (page === null ? stream.leave(body.dataset.live) : stream.follow(page, server));
}

async function open() {
  if (isFollowing || document.hidden) return;
  isFollowing = true;
  follow ??= way();
  (await follow)(isFollowing ? body.dataset.live : null);
}

async function close() {
  if (!isFollowing) return;
  isFollowing = false;
  (await follow)(null);
}

if (body.dataset.live !== undefined) {
  for (const list of document.querySelectorAll('[data-tail]')) list.scrollTop = list.scrollHeight;
  for (const list of document.querySelectorAll('[data-strip]')) list.scrollLeft = list.scrollWidth;
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);
  open();
}
