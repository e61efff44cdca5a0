// Repeats a button while it is held down. Each repetition is a separate press with a new idempotency key. A
// change of the page may replace the button, so it is found by its id.
let held = null;
let timer = 0;

function step() {
  const button = held && document.getElementById(held);
  if (!button || button.disabled) return release();
  button.form?.requestSubmit(button);
  timer = setTimeout(step, 120);
}

function release() {
  clearTimeout(timer);
  held = null;
}

document.addEventListener('pointerdown', (event) => {
  const button = event.target.closest?.('[data-hold]');
  if (!button?.id || event.button !== 0) return;
  held = button.id;
  timer = setTimeout(step, 500);
});
for (const kind of ['pointerup', 'pointercancel', 'blur']) addEventListener(kind, release);
