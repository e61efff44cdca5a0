// Advances the business time and the service times of customers between two events. This script adds the
// time since the last value from the server, which the next event replaces, or since a moment that the page names.
const seen = new WeakMap();
const unit = document.documentElement.lang === 'ko' ? '초' : ' s';
let wanted = false;

const padded = (number, digits) => String(number).padStart(digits, '0');

function show() {
  wanted = false;
  // The times stop while the server does not answer, because the actual values are then unknown.
  if (document.body.classList.contains('away')) return;
  const now = performance.now();
  let runs = false;
  for (const timer of document.querySelectorAll('[data-timer]')) {
    if (seen.get(timer)?.ms !== timer.dataset.ms) seen.set(timer, { ms: timer.dataset.ms, at: now });
    if (timer.dataset.runs !== 'true') continue;
    runs = true;
    const time = Math.floor(Number(timer.dataset.ms) + now - seen.get(timer).at);
    const text = `${padded(Math.floor(time / 60000), 2)}:${padded(Math.floor(time / 1000) % 60, 2)}:${padded(time % 1000, 3)}`;
    const place = timer.querySelector('span');
    if (place && place.textContent !== text) place.textContent = text;
  }
  for (const mark of document.querySelectorAll('[data-since]')) {
    runs = true;
    const time = Math.max(0, Date.now() - Number(mark.dataset.since));
    const text = time < 60000 ? `${(time / 1000).toFixed(1)}${unit}` : `${Math.floor(time / 60000)}:${padded(Math.floor(time / 1000) % 60, 2)}`;
    if (mark.textContent !== text) mark.textContent = text;
  }
  if (runs) ask();
}

// A browser requests no frames for a hidden page, so the timer does not run there.
function ask() {
  if (wanted) return;
  wanted = true;
  requestAnimationFrame(show);
}

for (const kind of ['bank:change', 'bank:back']) document.addEventListener(kind, ask);
ask();
