import { Marked, type Tokens } from 'marked';

import { anchorOf } from '../lib/anchors.ts';
import { resolveLink, type Target } from './links.ts';

/** A section of a document, for the search. */
export interface Section {
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
}

/** A document as HTML, and what the site needs to know of it. */
export interface RenderedDocument {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
  readonly targets: readonly Target[];
}

/**
 * Renders a document; its links become those between pages.
 * @param file its path in the repository
 * @throws Error if a link leads nowhere
 */
export function renderDocument(file: string, markdown: string): RenderedDocument {
  const targets: Target[] = [];
  const resolve = (link: string): string | null => {
    const target = resolveLink(file, link);
    targets.push(target);
    return target.href;
  };
  const marked = new Marked({
    gfm: true,
    walkTokens(token) {
      if (token.type === 'link' || token.type === 'image') token.href = resolve(token.href) ?? '';
      if (token.type === 'html') token.text = rewriteHtml(token.text, resolve);
    },
    renderer: {
      link: (token) => (token.href === '' ? token.text : false),
      heading(token) {
        const tag = `h${token.depth}`;
        const html = this.parser.parseInline(token.tokens);
        return `<${tag} id="${anchorOf(token.text)}">${html}</${tag}>\n`;
      },
      table(token) {
        const table = renderTable(token, (cell) => this.parser.parseInline(cell.tokens));
        return `<div class="table">${table}</div>\n`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  const sections = splitSections(markdown);
  return { title: sections[0]?.heading ?? file, html, sections, targets };
}

function renderTable(token: Tokens.Table, render: (cell: Tokens.TableCell) => string): string {
  const row = (cells: readonly Tokens.TableCell[], tag: 'td' | 'th'): string => {
    const open = (cell: Tokens.TableCell) =>
      cell.align === 'right' ? `${tag} class="number"` : tag;
    return `<tr>${cells.map((cell) => `<${open(cell)}>${render(cell)}</${tag}>`).join('')}</tr>`;
  };
  const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
  const isEmpty = token.header.every(({ text }) => text === '');
  const head = isEmpty ? '' : `<thead>${row(token.header, 'th')}</thead>\n`;
  return `<table>${head}<tbody>${body}</tbody></table>`;
}

/** Pictures and anchors are written as HTML in some documents. */
function rewriteHtml(html: string, resolve: (link: string) => string | null): string {
  return html.replaceAll(
    /\b(src|srcset)="([^"]+)"/g,
    (_all, name: string, link: string) => `${name}="${resolve(link) ?? ''}"`,
  );
}

/** Splits a document at its headings of the first three levels. */
function splitSections(markdown: string): Section[] {
  const prose = markdown.replaceAll(/^ *```[^\n]*$/gm, '');
  return prose
    .split(/^(?=#{1,3} )/m)
    .map((part) => /^#{1,3} (?<heading>.+)\n?(?<text>[^]*)$/.exec(part)?.groups)
    .filter((groups) => groups !== undefined)
    .map(({ heading = '', text = '' }) => ({
      anchor: anchorOf(heading),
      heading: plain(heading),
      text: plain(text),
    }));
}

/** Removes the marks of Markdown. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^[|:\s-]+$|^ *- |[`*|]/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
