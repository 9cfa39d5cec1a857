import { escapeHtml, phrase } from './html.ts';
import { groupsOf } from './navigation.ts';
import { addressOf, BASE } from './paths.ts';

/** The files that every page loads. */
export interface Assets {
  readonly script: string;
  readonly style: string;
  readonly search: string;
}

/** The content that all pages share. */
export interface Frame {
  readonly assets: Assets;
  /** Paths of the pages of `docs/` that exist. */
  readonly paths: ReadonlySet<string>;
  readonly version: string;
}

export interface Content {
  readonly title: string;
  readonly description: string;
  /** Its place in the navigation: the path of a page, or `errors`. */
  readonly path?: string;
  readonly html: string;
  readonly outline?: readonly { readonly id: string; readonly text: string; readonly level: number }[];
}

/** Renders a whole page. */
export function renderLayout(frame: Frame, content: Content): string {
  const { assets, version } = frame;
  const { title, description, html, outline = [], path = '' } = content;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escapeHtml(description)}">
<meta name="theme-color" content="#f6f5f0" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#161815" media="(prefers-color-scheme: dark)">
<title>${escapeHtml(title)} · Switchboard</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
<script src="/static/early.js"></script>
<script type="module" src="${assets.script}"></script>
</head>
<body data-search="${assets.search}">
<a class="skip" href="#content">Skip to content</a>
${renderBar(path)}
<div class="frame${outline.length > 1 ? ' with-outline' : ''}">
<nav id="pages" class="pages" aria-label="Pages">${renderNavigation(frame, path)}</nav>
<main id="content" tabindex="-1">
<article class="prose">
${html}
</article>
${renderNeighbors(frame, path)}
<footer class="foot">Switchboard ${escapeHtml(version)}</footer>
</main>
${renderOutline(outline)}
</div>
</body>
</html>
`;
}

/**
 * The head of every page: the parts of the documentation, search and theme. Scripts show the buttons that need them.
 */
function renderBar(path: string): string {
  const isErrors = path === 'errors';
  const link = (href: string, text: string, isCurrent: boolean) =>
    `<a href="${href}"${isCurrent ? ' aria-current="true"' : ''}>${text}</a>`;
  return `<header class="bar">
<button type="button" class="icon" data-action="pages" aria-label="Pages" aria-expanded="false" aria-controls="pages" hidden>${icons.menu}</button>
<a class="mark" href="${BASE}"><img src="/static/icon.svg" alt="" width="26" height="26">Switchboard</a>
<nav class="parts" aria-label="Documentation">
${link(BASE, 'Guides', !isErrors)}
${link('/docs', 'API reference', false)}
${link('/docs/errors', 'Errors', isErrors)}
</nav>
<div class="tools">
<button type="button" class="find" data-action="search" aria-label="Search" aria-keyshortcuts="/ Control+K Meta+K" hidden>${icons.search}<span>Search</span><kbd>/</kbd></button>
<button type="button" class="icon" data-action="theme" aria-label="Switch theme" hidden>${icons.theme}</button>
<a class="dashboard" href="/">Dashboard</a>
</div>
</header>`;
}

function renderNavigation({ paths }: Frame, current: string): string {
  const link = (href: string, title: string, isCurrent: boolean) =>
    `<li><a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`;
  const isDecision = current.startsWith('decisions/');
  return groupsOf(paths)
    .map(({ title, pages }) => {
      const links = pages.map(([path, name]) =>
        link(addressOf(path), name, path === current || (isDecision && path === 'decisions/README')),
      );
      return `<p>${title}</p><ul>${links.join('')}</ul>`;
    })
    .concat(
      `<p>Reference</p><ul>${link('/docs', 'API reference', false)}${link('/docs/errors', 'Errors', current === 'errors')}</ul>`,
    )
    .join('\n');
}

/** Links to the pages before and after this one. */
function renderNeighbors({ paths }: Frame, current: string): string {
  const pages = groupsOf(paths).flatMap((group) => group.pages);
  const index = pages.findIndex(([path]) => path === current);
  if (index === -1) return '';
  const link = (step: -1 | 1, name: string) => {
    const [path, title] = pages[index + step] ?? [];
    return path === undefined || title === undefined
      ? ''
      : `<a class="neighbor ${name.toLowerCase()}" rel="${step === 1 ? 'next' : 'prev'}" href="${addressOf(path)}"><span>${name}</span>${escapeHtml(title)}</a>`;
  };
  return `<nav class="neighbors" aria-label="Neighboring pages">${link(-1, 'Previous')}${link(1, 'Next')}</nav>`;
}

function renderOutline(outline: NonNullable<Content['outline']>): string {
  if (outline.length < 2) return '';
  const lines = outline.map(
    ({ id, text, level }) => `<li class="level${level}"><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="outline" aria-label="On this page"><p>On this page</p><ul>${lines.join('')}</ul></nav>`;
}

/** The first page: all pages by group, with what each of them is about. */
export function renderIndex(frame: Frame, descriptions: ReadonlyMap<string, string>): Content {
  const cards = groupsOf(frame.paths).map(({ title, pages }) => {
    const links = pages.map(
      ([path, name]) =>
        `<li><a class="card" href="${addressOf(path)}"><strong>${escapeHtml(name)}</strong><span>${phrase(firstSentence(descriptions.get(path) ?? ''))}</span></a></li>`,
    );
    return `<section><h2 id="${title.toLowerCase()}">${title}</h2><ul class="cards">${links.join('')}</ul></section>`;
  });
  const lead =
    'Connect WhatsApp and other networks to your application: send and receive messages over one API, and get every event by signed webhook.';
  return {
    title: 'Guides',
    description: lead,
    html: `<h1>Guides</h1>
<p class="lead">${lead} Look up every operation in the <a href="/docs">API reference</a>.</p>
${cards.join('\n')}`,
  };
}

/** The first sentence, for a card. */
function firstSentence(text: string): string {
  return /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, '.') ?? text;
}

export const notFound: Content = {
  title: 'Page not found',
  description: 'This page does not exist.',
  html: `<h1>Page not found</h1>
<p>Check the address, search for the page, or start from <a href="${BASE}">all guides</a>.</p>`,
};

const icon = (paths: string) =>
  `<svg aria-hidden="true" viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round">${paths}</svg>`;
const icons = {
  menu: icon('<path d="M4 6h16M4 12h16M4 18h16"/>'),
  search: icon('<circle cx="11" cy="11" r="7"/><path d="m20 20-3.5-3.5"/>'),
  theme: icon('<circle cx="12" cy="12" r="8"/><path d="M12 4v16a8 8 0 0 0 0-16z" fill="currentColor"/>'),
};
