import { style as dialogs } from '@latchkey/agent/fleet/styles/dialogs.css';
import { style as figure } from '@latchkey/agent/fleet/styles/figure.css';
import { style as frame } from '@latchkey/agent/fleet/styles/fleet.css';
import { style as machines } from '@latchkey/agent/fleet/styles/machines.css';
import { style as problems } from '@latchkey/agent/fleet/styles/problems.css';
import { style as wall } from '@latchkey/agent/fleet/styles/wall.css';

/** In cascade order. */
const STYLES = [frame, problems, figure, machines, dialogs, wall].join('');

/** Adds the styles of the fleet's page to the document. @returns a function that removes them */
export function addFleetStyles(): () => void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLES);
  document.adoptedStyleSheets.push(sheet);
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
  };
}
