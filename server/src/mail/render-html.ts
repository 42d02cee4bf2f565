import { escapeHtml } from '#server/lib/text.ts';
import type { MailBlock, MailContent, MailLink } from './mail-content.ts';

const SANS = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";

/**
 * Mail clients ignore what they do not support: the layout uses tables, the styles are inline, and nothing is loaded.
 * The style sheet contains only the dark and the narrow variant, and must override the inline styles (`!important`).
 * Words may break, because a long address would otherwise widen the table.
 */
const STYLE_SHEET = `
      @media (max-width: 480px) {
        .page { padding: 0 !important; }
        .card { padding: 24px 20px !important; border-width: 0 !important; border-radius: 0 !important; }
        .code { font-size: 14px !important; padding: 14px 4px !important; }
      }
      @media (prefers-color-scheme: dark) {
        body, .page { background-color: #14161a !important; }
        .card { background-color: #1e2127 !important; border-color: #343941 !important; }
        .strong { color: #f2f4f7 !important; }
        .plain { color: #d5d9e0 !important; }
        .quiet { color: #9aa1ac !important; }
        .code { background-color: #14161a !important; border-color: #4a515c !important; color: #f2f4f7 !important; }
      }
`;

/** Inline styles. */
const STYLES = {
  text: `margin:0 0 16px;font:400 16px/1.55 ${SANS};color:#333a45;`,
  small: `margin:0 0 6px;font:400 13px/1.5 ${SANS};color:#667080;`,
  title: `margin:0 0 20px;font:700 22px/1.3 ${SANS};color:#14181f;`,
  heading: `margin:28px 0 12px;font:600 17px/1.3 ${SANS};color:#14181f;`,
  label: `margin:20px 0 8px;font:600 16px/1.4 ${SANS};color:#14181f;`,
  code: `padding:16px 8px;background-color:#f3f4f6;border:1px solid #d3d8de;border-radius:8px;font:600 16px/1.5 ${MONO};color:#14181f;text-align:center;`,
  button: `display:inline-block;padding:12px 22px;font:600 16px/1.25 ${SANS};color:#ffffff;text-decoration:none;`,
  note: `margin:8px 0 20px;font:400 14px/1.5 ${SANS};color:#667080;`,
};

export function renderHtml({ language, subject, preview, blocks, footer }: MailContent): string {
  const body = blocks.map(blockToHtml).join('\n');
  const footerHtml = footer
    .map((line) => `<p class="quiet" style="${STYLES.small}">${footerToHtml(line)}</p>`)
    .join('\n                ');
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="supported-color-schemes" content="light dark">
    <meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
    <title>${escapeHtml(subject)}</title>
    <style>${STYLE_SHEET}    </style>
  </head>
  <body style="margin:0;padding:0;background-color:#f3f4f6;">
    <div style="display:none;max-height:0;overflow:hidden;opacity:0;">${escapeHtml(preview)}</div>
    <table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
      <tr>
        <td class="page" align="center" style="padding:32px 16px;background-color:#f3f4f6;">
          <table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px;">
            <tr>
              <td class="card" align="left" style="padding:36px 40px;background-color:#ffffff;border:1px solid #e3e6ea;border-radius:12px;word-break:break-word;">
${body}
                <div style="padding-top:8px;"></div>
                ${footerHtml}
              </td>
            </tr>
          </table>
        </td>
      </tr>
    </table>
  </body>
</html>
`;
}

function footerToHtml(line: string | MailLink): string {
  if (typeof line === 'string') return escapeHtml(line);
  return `<a class="quiet" href="${escapeHtml(line.url)}" style="color:#667080;text-decoration:underline;">${escapeHtml(line.text)}</a>`;
}

const INDENT = ' '.repeat(16);

function blockToHtml(block: MailBlock): string {
  switch (block.kind) {
    case 'title':
      return indent(`<h1 class="strong" style="${STYLES.title}">${escapeHtml(block.text)}</h1>`);
    case 'heading':
      return indent(`<h2 class="strong" style="${STYLES.heading}">${escapeHtml(block.text)}</h2>`);
    case 'paragraph':
      return indent(`<p class="plain" style="${STYLES.text}">${escapeHtml(block.text)}</p>`);
    case 'code':
      return indent(
        `<p class="strong" style="${STYLES.label}">${escapeHtml(block.label)}</p>`,
        '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">',
        `  <tr><td class="code" style="${STYLES.code}">${escapeHtml(block.code)}</td></tr>`,
        '</table>',
        `<p class="quiet" style="${STYLES.note}">${escapeHtml(block.note)}</p>`,
      );
    case 'steps':
      return listToHtml('ol', block.items);
    case 'list':
      return listToHtml('ul', block.items);
    case 'lines':
      return indent(
        `<p class="plain" style="${STYLES.text}">${block.lines.map(escapeHtml).join('<br>')}</p>`,
      );
    case 'link':
      return indent(
        `<p class="plain" style="${STYLES.text}"><a class="strong" href="${escapeHtml(block.url)}" style="color:#14181f;text-decoration:underline;">${escapeHtml(block.text)}</a></p>`,
      );
    case 'button':
      // The color is on the cell too: Outlook pads and colors cells, but not links.
      return indent(
        '<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 24px;">',
        '  <tr><td align="center" bgcolor="#2456c9" style="background-color:#2456c9;border-radius:8px;">',
        `    <a href="${escapeHtml(block.url)}" style="${STYLES.button}">${escapeHtml(block.text)}</a>`,
        '  </td></tr>',
        '</table>',
      );
  }
}

function listToHtml(tag: 'ol' | 'ul', items: readonly string[]): string {
  return indent(
    `<${tag} class="plain" style="${STYLES.text}padding-left:22px;">`,
    ...items.map((item) => `  <li style="margin:0 0 6px;">${escapeHtml(item)}</li>`),
    `</${tag}>`,
  );
}

function indent(...lines: readonly string[]): string {
  return lines.map((line) => `${INDENT}${line}`).join('\n');
}
