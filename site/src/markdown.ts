import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import GithubSlugger from 'github-slugger';
import hljs from 'highlight.js/lib/common';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import http from 'highlight.js/lib/languages/http';
import nginx from 'highlight.js/lib/languages/nginx';
import MarkdownIt, { type Token } from 'markdown-it';
import { renderDiagram } from './diagram.ts';
import { escapeHtml } from './html.ts';
import { resolveLink } from './links.ts';
import { ROOT } from './paths.ts';

/** A heading with the text below it, up to the next one. */
export interface Section {
  readonly id: string;
  readonly heading: string;
  readonly level: number;
  /** Words for the search, from a comment such as `<!-- keywords: k8s, helm -->` below the heading, or empty. */
  keywords: string;
  text: string;
}

export interface Page {
  /** The path in `docs/` without its ending. */
  readonly path: string;
  readonly title: string;
  /** The first paragraph. */
  readonly description: string;
  readonly html: string;
  /** The first one has the text before the first heading below the title. */
  readonly sections: readonly Section[];
}

hljs.registerLanguage('dockerfile', dockerfile);
hljs.registerLanguage('http', http);
hljs.registerLanguage('nginx', nginx);

const markdown = new MarkdownIt({ html: true, highlight });

/** Renders a page of `docs/`. */
export function renderPage(path: string, text: string): Page {
  const file = `docs/${path}.md`;
  const tokens = markdown.parse(text, {});
  addHeadingIds(tokens);
  resolveLinks(tokens, file);
  markAlerts(tokens);
  const sections = sectionsOf(tokens);
  nameTables(tokens);
  drawDiagrams(tokens);
  const first = tokens.find(({ type, level }) => type === 'paragraph_open' && level === 0);
  const description = first === undefined ? '' : plainText(tokens[tokens.indexOf(first) + 1]);
  return {
    path,
    title: sections[0]?.heading ?? path,
    description,
    html: markdown.renderer.render(tokens, markdown.options, {}),
    sections,
  };
}

/** Colors code by class names, because the policy of the page forbids style attributes. */
function highlight(code: string, language: string): string {
  return hljs.getLanguage(language) === undefined ? '' : hljs.highlight(code, { language }).value;
}

const attributeOf = (token: Token | undefined, name: string) => String(token?.attrGet(name) ?? '');

/** The text of an inline token, without its formatting. */
function plainText(token: Token | undefined): string {
  return (token?.children ?? [])
    .map(({ type, content }) => (type === 'softbreak' || type === 'hardbreak' ? ' ' : content))
    .join('');
}

/** Adds ids as GitHub makes them, so that the links of the pages work in both places. */
function addHeadingIds(tokens: readonly Token[]): void {
  const slugger = new GithubSlugger();
  for (const [index, token] of tokens.entries())
    if (token.type === 'heading_open') token.attrSet('id', slugger.slug(plainText(tokens[index + 1])));
}

/** Replaces the targets of links and images. The link to a file of the repository becomes the path of the file. */
function resolveLinks(tokens: readonly Token[], from: string): void {
  for (const { children } of tokens) {
    for (const [index, token] of (children ?? []).entries()) {
      if (token.type === 'image') resolveImage(token, from);
      if (token.type !== 'link_open') continue;
      const target = resolveLink(attributeOf(token, 'href'), from);
      if ('address' in target) token.attrSet('href', target.address);
      else if (children !== null) unlink(children, index, target.file);
    }
  }
}

/** Replaces a link by its text and the path of the file that it leads to. */
function unlink(children: Token[], from: number, file: string): void {
  const to = children.findIndex(({ type }, index) => index > from && type === 'link_close');
  const text = children
    .slice(from + 1, to)
    .map(({ content }) => content)
    .join('');
  const [open, close] = [children[from], children[to]];
  for (const token of [open, close]) {
    if (token === undefined) continue;
    token.type = 'html_inline';
    token.content = '';
  }
  if (close !== undefined && text !== file) close.content = ` (<code>${escapeHtml(file)}</code>)`;
}

function resolveImage(token: Token, from: string): void {
  const source = attributeOf(token, 'src');
  const target = resolveLink(source, from);
  if (!('address' in target)) return;
  token.attrSet('src', target.address);
  token.attrSet('loading', 'lazy');
  if (!source.endsWith('.png') || /^\w+:/.test(source)) return;
  // Its size in the header of the file keeps the page from moving while it loads.
  const header = readFileSync(join(ROOT, dirname(from), source)).subarray(16, 24);
  token.attrSet('width', String(header.readUInt32BE(0)));
  token.attrSet('height', String(header.readUInt32BE(4)));
}

/** Turns quotes that begin with `[!NOTE]`, as on GitHub, into highlighted blocks. */
function markAlerts(tokens: readonly Token[]): void {
  for (const [index, token] of tokens.entries()) {
    const first = tokens[index + 2]?.children?.[0];
    const [, kind] = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]/.exec(first?.content ?? '') ?? [];
    if (token.type !== 'blockquote_open' || first === undefined || kind === undefined) continue;
    token.attrSet('class', `alert ${kind.toLowerCase()}`);
    first.type = 'html_inline';
    first.content = `<strong>${kind.charAt(0)}${kind.slice(1).toLowerCase()}</strong><br>`;
  }
}

const KEYWORDS = /^<!-- keywords: (.*) -->$/m;

function sectionsOf(tokens: readonly Token[]): readonly Section[] {
  const sections: Section[] = [];
  for (const [index, token] of tokens.entries()) {
    const level = Number(token.tag.slice(1));
    if (token.type === 'heading_open' && level <= 3)
      sections.push({
        id: attributeOf(token, 'id'),
        heading: plainText(tokens[index + 1]),
        level,
        keywords: '',
        text: '',
      });
    const section = sections.at(-1);
    const isHeading = tokens[index - 1]?.type === 'heading_open';
    if (section === undefined || isHeading) continue;
    if (token.type === 'inline') section.text += `${plainText(token)} `;
    if (token.type === 'html_block') section.keywords ||= KEYWORDS.exec(token.content)?.[1] ?? '';
    if (token.type === 'fence') section.text += `${token.content} `;
  }
  return sections;
}

/** Numbers tables, because each is a region that the keyboard can scroll, and regions need names. */
function nameTables(tokens: readonly Token[]): void {
  const tables = tokens.filter(({ type }) => type === 'table_open');
  for (const [index, table] of tables.entries()) table.attrSet('aria-label', `Table ${index + 1}`);
}

/** Replaces the source of diagrams by pictures. A type of diagram that cannot be drawn stays a block of code. */
function drawDiagrams(tokens: readonly Token[]): void {
  const diagrams = tokens.filter(({ type, info }) => type === 'fence' && languageOf(info) === 'mermaid');
  for (const [index, token] of diagrams.entries()) {
    const diagram = renderDiagram(token.content, index + 1);
    if (diagram === undefined) continue;
    token.type = 'html_block';
    token.content = diagram;
  }
}

const languageOf = (info: string) => info.trim().split(/\s+/)[0] ?? '';

const { rules } = markdown.renderer;
const renderFence = rules['fence'];
const renderImage = rules['image'];
if (renderFence === undefined || renderImage === undefined) throw new Error('markdown-it has other rules');

rules['fence'] = (tokens, index, ...rest) => {
  const html = renderFence(tokens, index, ...rest).replace('<pre>', '<pre tabindex="0">');
  return `<div class="code" data-language="${escapeHtml(languageOf(tokens[index]?.info ?? ''))}">${html}</div>\n`;
};
rules['image'] = (...parts) => `<span class="picture">${renderImage(...parts)}</span>`;
rules['heading_close'] = (tokens, index) => {
  const { tag = 'h2' } = tokens[index] ?? {};
  const id = escapeHtml(attributeOf(tokens[index - 2], 'id'));
  const link = tag === 'h1' ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
  return `${link}</${tag}>\n`;
};
rules['table_open'] = (tokens, index) =>
  `<div class="table" role="region" aria-label="${attributeOf(tokens[index], 'aria-label')}" tabindex="0"><table>\n`;
rules['table_close'] = () => '</table></div>\n';
for (const rule of ['html_block', 'html_inline'])
  rules[rule] = (tokens, index) => (tokens[index]?.content ?? '').replaceAll(/<!--.*?-->/gs, '');
