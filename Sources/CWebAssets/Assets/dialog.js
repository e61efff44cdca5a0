// Sends forms without leaving the page, and shows confirmations. Each press of a button has a new idempotency
// key, and a retry after a missing answer has the key of its press, so two presses count twice and a retried
// press counts once. All sentences come from the server.
import { doubt, makeSure } from './server.js';

const toast = document.getElementById('toast');

function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

// Requests use the language of the page, not that of the browser or a cookie.
function inLanguage(address) {
  const url = new URL(address, location.href);
  url.searchParams.set('lang', document.documentElement.lang);
  return url.pathname + url.search;
}

// If the address of the page contains a language, the next address keeps it.
const goTo = (address) => location.assign(new URLSearchParams(location.search).has('lang') ? inLanguage(address) : address);

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Retries for some seconds with the same idempotency key, because the server may be restarting.
async function send(url, options) {
  for (let attempt = 0; ; attempt++) {
    try {
      if (!await makeSure()) throw new Error(document.body.dataset.stranger);
      return await fetch(inLanguage(url), { redirect: 'follow', credentials: 'same-origin', ...options });
    } catch (error) {
      doubt();
      if (attempt === 8) throw error;
      await pause(100 * 2 ** Math.min(attempt, 4));
    }
  }
}

let vanishing = 0;
function tell(text, tone) {
  const note = document.createElement('div');
  note.className = `notice ${tone}`;
  const words = document.createElement('p');
  words.textContent = text;
  note.append(words);
  document.querySelector('#said .notice')?.remove();
  toast?.replaceChildren(note);
  clearTimeout(vanishing);
  vanishing = setTimeout(() => note.remove(), tone === 'refused' ? 12000 : 6000);
}

function ask(content) {
  const opener = document.activeElement;
  const dialog = document.createElement('dialog');
  dialog.append(content);
  dialog.setAttribute('aria-label', content.querySelector('h1, p')?.textContent ?? '');
  dialog.addEventListener('close', () => {
    dialog.remove();
    (opener?.id && document.getElementById(opener.id) || opener)?.focus?.({ preventScroll: true });
  });
  // A click outside the dialog closes it, as Escape does.
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function button(text, look) {
  const made = document.createElement(look === 'strong' ? 'a' : 'button');
  made.textContent = text;
  made.className = look === 'strong' ? 'button strong' : 'button';
  return made;
}

// Shows an alert or a question of the juice maker as a dialog.
function alertOf(answer) {
  const content = document.createElement('div');
  content.className = 'confirm';
  const words = document.createElement('p');
  words.textContent = answer.text;
  const answers = document.createElement('div');
  answers.className = 'answers';
  content.append(words, answers);
  const no = button(answer.no?.text ?? document.body.dataset.ok, '');
  no.dataset.answer = 'no';
  if (answer.yes) {
    const yes = button(answer.yes.text, 'strong');
    yes.href = answer.yes.href;
    yes.dataset.answer = 'yes';
    answers.append(yes);
  }
  answers.append(no);
  const dialog = ask(content);
  no.addEventListener('click', () => dialog.close());
}

function show(answer, isQuiet) {
  // Errors that occur before the form is handled, such as a foreign origin, have the form for scripts: they are
  // in English, or not JSON.
  if (!answer) return tell(document.body.dataset.failed, 'refused');
  if (answer.error) {
    return tell(document.documentElement.lang === 'en' ? answer.error.message : document.body.dataset.failed, 'refused');
  }
  if (answer.to) goTo(answer.to);
  else if (answer.tone === 'question' || answer.tone === 'alert') alertOf(answer);
  else if (!isQuiet || answer.tone === 'refused') tell(answer.text, answer.tone);
}

// Shows a confirmation page as a dialog, with the question and the form of that page.
async function askFirst(url, options) {
  const answer = await send(url, { headers: { Accept: 'text/html' }, ...options });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const question = page.querySelector('[data-confirm]');
  if (!question) {
    const notice = page.querySelector('#said .notice p, main p');
    if (notice) tell(notice.textContent, 'refused');
    return;
  }
  const dialog = ask(document.importNode(question, true));
  // The default button of a command that cannot be undone is "no".
  if (dialog.querySelector('.danger')) dialog.querySelector('[data-answer="no"]')?.focus();
  dialog.querySelector('[data-answer="no"]')?.addEventListener('click', (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener('submit', () => dialog.close());
}

document.addEventListener('submit', async (event) => {
  const form = event.target;
  const isPost = form.method === 'post';
  const asks = form.hasAttribute('data-ask');
  if (event.defaultPrevented || form.hasAttribute('data-plain') || (!isPost && !asks)) return;
  event.preventDefault();
  const presser = event.submitter;
  const fields = new FormData(form, presser);
  if (isPost) fields.set('key', freshKey());
  const target = presser?.getAttribute('formaction') ?? form.getAttribute('action');
  const sent = new URLSearchParams(fields);
  // Making a juice takes some time, so the button shows that the press was received.
  if (form.hasAttribute('data-wait')) presser?.setAttribute('aria-busy', 'true');
  try {
    if (asks) return await (isPost ? askFirst(target, { method: 'POST', body: sent }) : askFirst(`${target}?${sent}`));
    const answer = await send(target, { method: 'POST', body: sent, headers: { Accept: 'application/json' } });
    if (answer.status === 401) return location.reload();
    show(await answer.json().catch(() => null), form.hasAttribute('data-quiet'));
    if (answer.ok) for (const field of form.querySelectorAll('textarea')) field.value = '';
  } catch {
    tell(document.body.dataset.unsent, 'refused');
  } finally {
    presser?.removeAttribute('aria-busy');
  }
});
