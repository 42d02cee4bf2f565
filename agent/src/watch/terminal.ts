import type { ReadStream, WriteStream } from 'node:tty';
import { inspect } from 'node:util';

import { drawScreen, type Size } from './screen.ts';
import { runSession } from './session.ts';
import type { Target } from './target.ts';
import type { Line, Style } from './text.ts';
import { emptyView } from './view.ts';

/**
 * Draws an agent on this terminal until the user quits.
 * @throws WatchFailure as `runSession`, after restoring the terminal
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

/** The alternate screen, without cursor and line wrap. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';

/** Synchronized output: supporting terminals show no partial frame. */
const BEGIN = '\u001b[?2026h\u001b[H';
const END = '\u001b[?2026l';

/** q, Q, Ctrl-C and Ctrl-D. */
const QUIT_KEYS: ReadonlySet<number> = new Set([0x71, 0x51, 0x03, 0x04]);

/** For terminals that do not report their size. */
const FALLBACK: Size = { columns: 80, rows: 24 };

/** A terminal that is drawn as a whole. */
interface Terminal extends Disposable {
  draw(lines: readonly Line[]): void;
  readonly size: Size;
}

/** Events of the terminal. */
interface TerminalEvents {
  readonly onResize: () => void;
  /** q, Ctrl-C or Ctrl-D. */
  readonly onQuit: () => void;
}

/** Opens the terminal for drawing. Disposing it, or the end of the process, restores the previous state. */
function openTerminal(
  output: WriteStream,
  input: ReadStream,
  { onResize, onQuit }: TerminalEvents,
): Terminal {
  const hasColours = output.hasColors() && !process.env['NO_COLOR'];
  const onKey = (keys: Buffer): void => {
    if (keys.some((key) => QUIT_KEYS.has(key))) onQuit();
  };
  let isOpen = true;
  const leave = (): void => {
    if (!isOpen) return;
    isOpen = false;
    output.off('resize', onResize);
    input.off('data', onKey).pause();
    if (input.isTTY) input.setRawMode(false);
    output.write(LEAVE);
  };
  output.write(ENTER);
  output.on('resize', onResize);
  // The terminal was closed.
  input.on('error', onQuit);
  if (input.isTTY) input.setRawMode(true).on('data', onKey);
  process.once('exit', leave);
  return {
    get size() {
      const { columns, rows } = output;
      return columns > 0 && rows > 0 ? { columns, rows } : FALLBACK;
    },
    draw(lines) {
      // A slow line skips frames.
      if (!isOpen || output.writableNeedDrain) return;
      output.write(`${BEGIN}${renderLines(lines, hasColours).join('\r\n')}${END}`);
    },
    [Symbol.dispose]() {
      process.off('exit', leave);
      leave();
    },
  };
}

/** Renders lines as text, with colours if the terminal supports them. */
export function renderLines(lines: readonly Line[], hasColours: boolean): string[] {
  return lines.map((line) =>
    line.map(({ text, style }) => (hasColours ? paint(text, style) : text)).join(''),
  );
}

function paint(text: string, style: Style): string {
  const codes = style === 'plain' ? undefined : inspect.colors[style];
  return codes === undefined ? text : `\u001b[${codes[0]}m${text}\u001b[${codes[1]}m`;
}
