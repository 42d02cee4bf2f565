import type { AgentHello } from '@latchkey/contract';

import type { ConnectionState } from './connection.ts';
import { describeHost } from './format.ts';
import { find, openStorage, setText } from './dom.ts';

/** Stored until the tab is closed. */
const keptToken = openStorage('sessionStorage', 'latchkey.token');
const TOKEN = /^[\w.~-]{20,200}$/u;

/** Shows the facts of the machine in the header. */
export function showHost({
  host,
  agent_version: version,
  interval_seconds: seconds,
}: AgentHello): void {
  document.title = `${host.hostname} · Latchkey`;
  setText(find('#hostname'), host.hostname);
  setText(find('#machine'), describeHost(host).join(' · '));
  setText(
    find('#agent'),
    `Latchkey agent ${version}, a snapshot every ${seconds === 1 ? 'second' : `${seconds} seconds`}`,
  );
}

/** Shows the state of the connection; the countdown is not announced by screen readers. */
export function makeStatus(): (state: ConnectionState) => void {
  const [element, text, note] = [find('#state'), find('#state-text'), find('#state-note')];
  const countdown = find('#state-seconds');
  let timer: ReturnType<typeof setInterval> | undefined;
  return (state) => {
    clearInterval(timer);
    element.dataset['state'] = state.name;
    setText(text, STATE_TEXTS[state.name]);
    setText(countdown, '');
    // The reason stays during the next attempt, so that the layout does not jump.
    if (state.name !== 'connecting') {
      const reason = 'reason' in state && state.name !== 'token' ? state.reason : null;
      setText(note, reason ?? '');
      note.hidden = reason === null;
    }
    if (!('untilMs' in state)) return;
    const count = (): void => {
      const seconds = Math.max(0, Math.ceil((state.untilMs - Date.now()) / 1000));
      setText(countdown, ` in ${seconds} s`);
    };
    count();
    timer = setInterval(count, 500);
  };
}

const STATE_TEXTS: Readonly<Record<ConnectionState['name'], string>> = {
  connecting: 'Connecting',
  live: 'Live',
  waiting: 'Reconnecting',
  refused: 'Refused, retrying',
  token: 'Token required',
};

/** Returns the entered token. */
export function readToken(): string | null {
  return keptToken.read();
}

/** Shows a form while the agent requires a token. */
export function makeTokenForm(onToken: () => void): (state: ConnectionState) => void {
  const [form, input, problem] = [find('#token-form'), find('#token'), find('#token-problem')];
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const token = input instanceof HTMLInputElement ? input.value.trim() : '';
    if (!TOKEN.test(token)) {
      setText(problem, 'A token has 20 to 200 letters, digits and - . _ ~');
      return;
    }
    keptToken.write(token);
    onToken();
  });
  return (state) => {
    if (state.name === 'connecting') return;
    const isWanted = state.name === 'token';
    const wasWanted = !form.hidden;
    form.hidden = !isWanted;
    if (!isWanted) return;
    setText(problem, readToken() === null ? '' : 'The access token is not known.');
    keptToken.write(null);
    if (!wasWanted) input.focus();
  };
}
