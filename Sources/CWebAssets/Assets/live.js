// Keeps a page live: hears what has changed and puts it in place. It knows names of regions and keys of rows and nothing of what they
// mean. A stream is open only while the page is seen: a browser opens six connections to a server, and a seventh tab would hang.
const body = document.body;
const lost = document.getElementById('lost');
const speaker = document.getElementById('speaker');
let source = null;
let again = 0;
let delay = 300;

const region = (name) => document.querySelector(`[data-region="${CSS.escape(name)}"]`);

function parsed(html, parent) {
  // Rows of a table are no rows outside of one.
  const range = document.createRange();
  range.selectNodeContents(parent);
  return range.createContextualFragment(html);
}

// What somebody has typed or chosen in a row stays when the row comes anew.
function keepInput(old, fresh) {
  for (const field of old.querySelectorAll('input:not([type="hidden"]), select, textarea')) {
    const same = [...fresh.querySelectorAll(field.tagName)].find(
      (other) => other.name === field.name && (field.type !== 'checkbox' || other.value === field.value));
    if (!same) continue;
    if (field.type === 'checkbox') same.checked = field.checked;
    else same.value = field.value;
  }
}

const rowOf = (list, key) => [...list.children].find((row) => row.dataset.key === key);

function place(list, key, html, before) {
  const fresh = parsed(html, list).firstElementChild;
  if (!fresh) return;
  const old = rowOf(list, key);
  if (old) keepInput(old, fresh);
  else fresh.classList.add('new');
  const next = before === '' ? null : rowOf(list, before) ?? null;
  if (old && (old.nextElementSibling === next || old === next)) old.replaceWith(fresh);
  else {
    old?.remove();
    list.insertBefore(fresh, next);
  }
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
    const old = olds.get(key);
    if (old && fresh && plain(old).isEqualNode(plain(fresh))) {
      if (old !== next) list.insertBefore(old, next);
      else next = next.nextElementSibling;
      continue;
    }
    if (!fresh) continue;
    if (old) keepInput(old, fresh);
    if (old === next) next = next?.nextElementSibling ?? null;
    old?.remove();
    list.insertBefore(fresh, next);
  }
}

// A row without what is this page's alone: its keys, and the mark that it has just come.
function plain(row) {
  const copy = row.cloneNode(true);
  copy.classList.remove('new');
  if (copy.classList.length === 0) copy.removeAttribute('class');
  for (const key of copy.querySelectorAll('input[name="key"]')) key.setAttribute('value', '');
  for (const mark of copy.querySelectorAll('[data-since]')) mark.textContent = '';
  return copy;
}

// Rows that look alike come as the number of what they look like, in which a character that no document holds stands for the key.
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
    if (block) block.replaceChildren(parsed(html, block));
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

// Whoever hears the page hears it at most once a second.
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

function say(isLost) {
  if (!lost) return;
  lost.hidden = !isLost;
  lost.textContent = isLost ? body.dataset.lost : '';
  body.classList.toggle('away', isLost);
}

function open() {
  clearTimeout(again);
  if (source || document.hidden) return;
  const { live: page, lang } = body.dataset;
  source = new EventSource(`/events?page=${encodeURIComponent(page)}&lang=${encodeURIComponent(lang)}`);
  source.addEventListener('open', () => {
    delay = 300;
    say(false);
  });
  for (const kind of ['snapshot', 'change']) {
    source.addEventListener(kind, (event) => {
      say(false);
      apply(JSON.parse(event.data));
    });
  }
  source.addEventListener('error', () => {
    say(true);
    // The browser tries again by itself, unless the server has refused the stream.
    if (source?.readyState === EventSource.CLOSED) {
      close();
      again = setTimeout(retry, delay);
      delay = Math.min(delay * 2, 5000);
    }
  });
}

// A page that may not be seen any more says so itself.
async function retry() {
  const answer = await fetch(location.href, { method: 'GET' }).catch(() => null);
  if (answer?.status === 401) location.reload();
  else open();
}

function close() {
  clearTimeout(again);
  source?.close();
  source = null;
}

if (body.dataset.live !== undefined) {
  for (const list of document.querySelectorAll('[data-tail]')) list.scrollTop = list.scrollHeight;
  for (const list of document.querySelectorAll('[data-strip]')) list.scrollLeft = list.scrollWidth;
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);
  open();
}
