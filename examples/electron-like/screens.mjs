// What the program shows, in a terminal and in a window alike. It knows neither of them.

/** Returns the title, the sentence and the actions for a state of the license. */
export function describeState({ kind, reason, tier, daysLeft, clockWentBack }) {
  const clock = clockWentBack ? ' The clock of this computer is wrong: please correct it.' : '';
  const screens = {
    licensed: {
      title: `Licensed: ${tier}`,
      text: `Runs without a network for ${daysLeft} days.`,
      actions: ['check', 'machines', 'deactivate'],
    },
    trial: { title: 'Trial', text: `${daysLeft} days left.`, actions: ['activate', 'check'] },
    none: {
      title: 'No license',
      text: 'Enter a key, or try the program for some days.',
      actions: ['activate', 'trial'],
    },
    ended: {
      title:
        reason === 'license_expired' ? 'The license has ended' : 'Please connect to the internet',
      text:
        reason === 'license_expired'
          ? 'Buy another one, and enter its key.'
          : 'The program renews its license then.',
      actions: ['activate', 'check'],
    },
    refused: {
      title: 'The license was refused',
      text: refusals[reason] ?? reason,
      actions: ['activate', 'check'],
    },
  };
  const { text, ...screen } = screens[kind];
  return { ...screen, text: text + clock };
}

const refusals = {
  activation_inactive: 'This computer was freed for another one.',
  license_canceled: 'The subscription was canceled.',
  license_expired: 'The license has expired.',
  license_paused: 'The subscription is paused.',
  license_refunded: 'The payment was refunded.',
  license_revoked: 'The license was revoked. Please write to us.',
};

const failures = {
  key_mistyped: 'This key has a typing error.',
  license_not_found: 'There is no license with this key.',
  machine_airgapped:
    'This computer was activated without a connection and stays until its time is over.',
  trial_expired: 'The trial of this computer is over.',
};

/** Returns the sentence for the result of a call; an empty text if it worked. */
export function describeResult(result) {
  if (result.ok) return '';
  const { code, cause, max, availableAt } = result;
  if (code === 'no_answer')
    return `No answer (${cause}). Nothing changed; the program tries again.`;
  if (code === 'activation_limit_reached')
    return `The license is in use on ${computers(max)}. Choose one to free.`;
  if (code === 'move_limit_reached') return `Moved too often; possible again at ${availableAt}.`;
  return failures[code] ?? refusals[code] ?? `Not possible: ${code}.`;
}

function computers(count) {
  return count === 1 ? 'one computer' : `${count} computers`;
}

/** Returns one line for a machine of the license. */
export function describeMachine({ osVersion, lastValidatedAt, isThis }) {
  const day = lastValidatedAt.slice(0, 10);
  return `${osVersion ?? 'unknown system'}, last used ${day}${isThis ? ' (this computer)' : ''}`;
}

/** The program itself: it exports pictures, and faster with the feature `gpu`. */
export function exportPicture(latchkey) {
  if (!latchkey.state.mayRun) return 'Export needs a license.';
  latchkey.track('export_finished', { gpu: latchkey.has('gpu') });
  return latchkey.has('gpu') ? 'Exported on the graphics card.' : 'Exported.';
}
