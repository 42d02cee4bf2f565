// Shows the license, and calls the commands of src-tauri/src/main.rs.
const { core, event } = window['__TAURI__'];

const show = (id, text) => {
  document.getElementById(id).textContent = text;
};

function showState({ kind, reason, tier, daysLeft }) {
  if (kind === 'licensed')
    show('license', `Licensed: ${tier}. Runs ${daysLeft} days without a network.`);
  else if (kind === 'trial') show('license', `Trial: ${daysLeft} days left.`);
  else if (kind === 'none') show('license', 'Enter your key, or start the trial.');
  else show('license', `May not run: ${reason}.`);
}

async function call(command, fields) {
  const { ok, code, cause, state } = await core.invoke(command, fields);
  show('result', ok ? '' : [code, cause].filter(Boolean).join(': '));
  showState(state);
}

document.getElementById('form').addEventListener('submit', (submitted) => {
  submitted.preventDefault();
  void call('activate', { key: document.getElementById('key').value });
});
document.getElementById('trial').addEventListener('click', () => void call('start_trial'));

await event.listen('license', ({ payload }) => showState(payload));
showState(await core.invoke('state'));
