import { drawScreen } from './screen.ts';
import { runSession } from './session.ts';
import type { Target } from './target.ts';
import { openTerminal } from './terminal.ts';
import { emptyView } from './view.ts';

/**
 * Draws an agent on this terminal until somebody ends it.
 * @throws WatchFailure as `runSession`, with the terminal as it was before
 */
export async function drawSession(target: Target, stop: AbortController): Promise<void> {
  let view = emptyView(target.address);
  const draw = (): void => terminal.draw(drawScreen(view, terminal.size));
  using terminal = openTerminal(process.stdout, process.stdin, {
    onResize: () => draw(),
    onQuit: () => stop.abort(),
  });
  await runSession({
    target,
    signal: stop.signal,
    onChange: (changed) => {
      view = changed;
      draw();
    },
  });
}
