// The window. In Electron, `window.latchkey` of the preload script replaces the client that is opened here.
import { Latchkey, webStore } from '@latchkey/client';
import { events } from '@latchkey/client/events';

import { describeMachine, describeResult, describeState, exportPicture } from './screens.mjs';

const settings = await (await fetch('/settings.json')).json();
const latchkey = await Latchkey.open({
  ...settings,
  osVersion: navigator.platform,
  store: webStore(localStorage),
  events: events(),
});

const find = (id) => document.getElementById(id);
const BUTTONS = {
  activate: 'activate',
  trial: 'trial',
  check: 'check',
  machines: 'list',
  deactivate: 'deactivate',
};

function show() {
  const { title, text, actions } = describeState(latchkey.state);
  find('title').textContent = title;
  find('text').textContent = text;
  for (const [action, id] of Object.entries(BUTTONS)) find(id).hidden = !actions.includes(action);
}

function report(text) {
  find('message').textContent = text;
  find('machines').replaceChildren();
}

/** Shows the machines that are in use; each can be freed for this one. */
async function list() {
  const result = await latchkey.machines();
  if (!result.ok) return report(describeResult(result));
  const rows = result.machines
    .filter(({ isActive }) => isActive)
    .map((machine) => {
      const row = document.createElement('li');
      row.append(describeMachine(machine));
      if (!machine.isThis) row.append(createButton(machine.activationId));
      return row;
    });
  find('machines').replaceChildren(...rows);
}

function createButton(activationId) {
  const button = document.createElement('button');
  button.textContent = 'Free it, and use the license here';
  const free = async () => report(describeResult(await latchkey.moveHere(activationId)));
  button.addEventListener('click', () => void free());
  return button;
}

async function activate() {
  const result = await latchkey.activate(find('key').value);
  report(describeResult(result));
  if (result.code === 'activation_limit_reached') await list();
}

find('activate').addEventListener('submit', (event) => {
  event.preventDefault();
  void activate();
});
const clicks = {
  export: async () => report(exportPicture(latchkey)),
  trial: async () => report(describeResult(await latchkey.startTrial())),
  check: async () => report(describeResult(await latchkey.check())),
  list,
  deactivate: async () => report(describeResult(await latchkey.deactivate())),
  async support() {
    find('support-text').textContent = await latchkey.explain();
    find('support-text').hidden = false;
  },
};
for (const [id, run] of Object.entries(clicks))
  find(id).addEventListener('click', () => void run());

addEventListener('focus', () => latchkey.noticeFocus());
latchkey.onChange(show);
latchkey.keepChecking();
show();
