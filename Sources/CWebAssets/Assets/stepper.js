// Lets a button that is held down step on. Each step is a press: a form of its own with a key of its own. After a change the button may be
// another element, so it is held by its name.
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
