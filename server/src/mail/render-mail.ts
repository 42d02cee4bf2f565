import { escapeHtml } from './escape-html.ts';

/** What a mail says, before it is HTML or text. All texts are plain: what they hold is shown as it is. */
export interface MailContent {
  /** BCP 47, such as `en`. */
  readonly language: string;
  readonly subject: string;
  /** What an inbox shows beside the subject. */
  readonly preview: string;
  readonly blocks: readonly MailBlock[];
  /** Small print below. */
  readonly footer: readonly (string | MailLink)[];
}

/** A place on the web, and the words that lead there. */
export interface MailLink {
  readonly text: string;
  /** `https://…` or `http://…`. */
  readonly url: string;
}

/** One part of a mail. */
export type MailBlock =
  | { readonly kind: 'title' | 'heading' | 'paragraph'; readonly text: string }
  /** Something to be copied, with what it is for and a note below. */
  | {
      readonly kind: 'code';
      readonly label: string;
      readonly code: string;
      readonly note: string;
    }
  /** One after the other, numbered; or in no order. */
  | { readonly kind: 'steps' | 'list'; readonly items: readonly string[] }
  /** A place to go to: what the mail is about, or besides. */
  | ({ readonly kind: 'button' | 'link' } & MailLink)
  /** Each on a line of its own, such as a farewell and a name. */
  | { readonly kind: 'lines'; readonly lines: readonly string[] };

/** A mail in both forms that it is sent in. */
export interface RenderedMail {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** Makes HTML and text of one source. */
export function renderMail(content: MailContent): RenderedMail {
  return { subject: content.subject, html: toHtml(content), text: toText(content) };
}

function toText({ blocks, footer }: MailContent): string {
  const smallPrint = footer.map((line) => (typeof line === 'string' ? line : linkToText(line)));
  const parts = [...blocks.map(blockToText), `---\n${smallPrint.join('\n')}`];
  return `${parts.join('\n\n')}\n`;
}

function linkToText({ text: words, url }: MailLink): string {
  return `${words}\n${url}`;
}

function blockToText(block: MailBlock): string {
  switch (block.kind) {
    case 'title':
      return `${block.text}\n${'='.repeat(block.text.length)}`;
    case 'heading':
      return `${block.text}\n${'-'.repeat(block.text.length)}`;
    case 'paragraph':
      return block.text;
    case 'code':
      return `${block.label}\n\n    ${block.code}\n\n${block.note}`;
    case 'steps':
      return block.items.map((item, index) => `${index + 1}. ${item}`).join('\n');
    case 'list':
      return block.items.map((item) => `- ${item}`).join('\n');
    case 'button':
    case 'link':
      return linkToText(block);
    case 'lines':
      return block.lines.join('\n');
  }
}

const SANS = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";

/**
 * Mail clients drop what they do not know: so the layout is tables, the look is in the tags, and there is nothing to
 * load. Only the dark look and the narrow one are in a style sheet, which must override the tags (`!important`). A table
 * is as wide as its longest word, such as an address, unless that may be broken.
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

function toHtml({ language, subject, preview, blocks, footer }: MailContent): string {
  const body = blocks.map(blockToHtml).join('\n');
  const smallPrint = footer
    .map((line) => `<p class="quiet" style="${small}">${footerToHtml(line)}</p>`)
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
                ${smallPrint}
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

const text = `margin:0 0 16px;font:400 16px/1.55 ${SANS};color:#333a45;`;
const small = `margin:0 0 6px;font:400 13px/1.5 ${SANS};color:#667080;`;
const title = `margin:0 0 20px;font:700 22px/1.3 ${SANS};color:#14181f;`;
const heading = `margin:28px 0 12px;font:600 17px/1.3 ${SANS};color:#14181f;`;
const label = `margin:20px 0 8px;font:600 16px/1.4 ${SANS};color:#14181f;`;
const code = `padding:16px 8px;background-color:#f3f4f6;border:1px solid #d3d8de;border-radius:8px;font:600 16px/1.5 ${MONO};color:#14181f;text-align:center;`;
const button = `display:inline-block;padding:12px 22px;font:600 16px/1.25 ${SANS};color:#ffffff;text-decoration:none;`;
const note = `margin:8px 0 20px;font:400 14px/1.5 ${SANS};color:#667080;`;

const INDENT = ' '.repeat(16);

function blockToHtml(block: MailBlock): string {
  switch (block.kind) {
    case 'title':
      return `${INDENT}<h1 class="strong" style="${title}">${escapeHtml(block.text)}</h1>`;
    case 'heading':
      return `${INDENT}<h2 class="strong" style="${heading}">${escapeHtml(block.text)}</h2>`;
    case 'paragraph':
      return `${INDENT}<p class="plain" style="${text}">${escapeHtml(block.text)}</p>`;
    case 'code':
      return [
        `<p class="strong" style="${label}">${escapeHtml(block.label)}</p>`,
        '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">',
        `  <tr><td class="code" style="${code}">${escapeHtml(block.code)}</td></tr>`,
        '</table>',
        `<p class="quiet" style="${note}">${escapeHtml(block.note)}</p>`,
      ]
        .map((line) => `${INDENT}${line}`)
        .join('\n');
    case 'steps':
      return listToHtml('ol', block.items);
    case 'list':
      return listToHtml('ul', block.items);
    case 'lines':
      return `${INDENT}<p class="plain" style="${text}">${block.lines.map(escapeHtml).join('<br>')}</p>`;
    case 'link':
      return `${INDENT}<p class="plain" style="${text}"><a class="strong" href="${escapeHtml(block.url)}" style="color:#14181f;text-decoration:underline;">${escapeHtml(block.text)}</a></p>`;
    case 'button':
      // The colour is on the cell too: Outlook pads and colours cells, and no links.
      return [
        '<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 24px;">',
        '  <tr><td align="center" bgcolor="#2456c9" style="background-color:#2456c9;border-radius:8px;">',
        `    <a href="${escapeHtml(block.url)}" style="${button}">${escapeHtml(block.text)}</a>`,
        '  </td></tr>',
        '</table>',
      ]
        .map((line) => `${INDENT}${line}`)
        .join('\n');
  }
}

function listToHtml(tag: 'ol' | 'ul', items: readonly string[]): string {
  return [
    `<${tag} class="plain" style="${text}padding-left:22px;">`,
    ...items.map((item) => `  <li style="margin:0 0 6px;">${escapeHtml(item)}</li>`),
    `</${tag}>`,
  ]
    .map((line) => `${INDENT}${line}`)
    .join('\n');
}
