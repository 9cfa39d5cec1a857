import type { SearchDocument } from '../searchDocument.ts';
import { createIndex, type Found, findDocuments, type SearchIndex } from '../searchIndex.ts';

const MAX_RESULTS = 20;
const EXCERPT_CHARACTERS = 160;

let dialog: HTMLDialogElement | undefined;

/** Opens the search. The first opening loads all texts, which are indexed and searched in the browser. */
export function openSearch(): void {
  dialog ??= createDialog();
  if (!dialog.open) dialog.showModal();
  dialog.querySelector('input')?.select();
}

function createDialog(): HTMLDialogElement {
  const dialog = element('dialog', 'search');
  dialog.setAttribute('aria-label', 'Search');
  const input = element('input');
  Object.assign(input, { type: 'search', placeholder: 'Search guides, operations and errors', autocomplete: 'off' });
  input.setAttribute('aria-label', 'Search');
  const close = element('button', 'close', 'Close');
  close.type = 'button';
  const status = element('p', 'status', 'Type a word, an operation or an error code.');
  status.setAttribute('role', 'status');
  const results = element('ul');
  results.setAttribute('aria-label', 'Results');
  const line = element('div', 'line');
  line.append(input, close);
  dialog.append(line, status, results);
  document.body.append(dialog);

  const index = loadIndex();
  index.catch(() => (status.textContent = 'The search could not be loaded. Reload the page.'));
  const show = async () => {
    const found = findDocuments(await index, input.value).slice(0, MAX_RESULTS);
    status.textContent = statusOf(input.value.trim(), found);
    results.replaceChildren(...found.map((result) => resultLine(result)));
  };
  input.addEventListener('input', () => void show().catch(() => {})); // reported above
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    // The backdrop belongs to the dialog. A result on this page only moves the page.
    if (event.target === dialog || (event.target as Element).closest('a')) dialog.close();
  });
  dialog.addEventListener('keydown', (event) => moveFocus(event, input, results));
  return dialog;
}

async function loadIndex(): Promise<SearchIndex> {
  const response = await fetch(document.body.dataset['search'] ?? '');
  if (!response.ok) throw new Error(`the texts to search answered ${response.status}`);
  const index = createIndex();
  // In steps, so that the reader can type meanwhile.
  await index.addAllAsync((await response.json()) as SearchDocument[]); // written by the build
  return index;
}

function statusOf(query: string, found: readonly Found[]): string {
  const count = found.length;
  if (query === '') return 'Type a word, an operation or an error code.';
  if (count === 0) return `Nothing found for “${query}”.`;
  if (!found.some(({ hasAllWords }) => hasAllWords)) return 'Results with some of these words';
  if (count === MAX_RESULTS) return `The first ${MAX_RESULTS} results`;
  return count === 1 ? '1 result' : `${count} results`;
}

function resultLine(result: Found): HTMLLIElement {
  const { page, heading, text, id } = result;
  const line = element('li');
  const link = element('a', 'result');
  link.href = id;
  const title = element('strong');
  title.append(...marked(heading, result.terms));
  const excerpt = element('span', 'excerpt');
  excerpt.append(...marked(excerptOf(text, result.terms), result.terms));
  link.append(title, ...(page === heading ? [] : [element('span', 'page', page)]), excerpt);
  line.append(link);
  return line;
}

/** The part of a text around the first word that was found. */
function excerptOf(text: string, terms: readonly string[]): string {
  const at = Math.max(0, text.search(patternOf(terms)));
  const from = at < EXCERPT_CHARACTERS / 2 ? 0 : text.lastIndexOf(' ', at - EXCERPT_CHARACTERS / 4) + 1;
  const part = text.slice(from, from + EXCERPT_CHARACTERS);
  return (from > 0 ? '… ' : '') + part + (from + part.length < text.length ? ' …' : '');
}

/** Marks the found words. The text is never parsed as HTML. */
function marked(text: string, terms: readonly string[]): (string | HTMLElement)[] {
  return text
    .split(new RegExp(`(${patternOf(terms).source})`, 'gi'))
    .map((part, index) => (index % 2 === 1 ? element('mark', '', part) : part));
}

/** The terms are stems, so a word continues after them. */
const patternOf = (terms: readonly string[]) =>
  new RegExp(
    terms.length === 0
      ? '(?!)'
      : `\\b(?:${terms.map((term) => term.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})\\w*`,
    'i',
  );

/** The arrow keys move between the input and the results. */
function moveFocus(event: KeyboardEvent, input: HTMLInputElement, results: HTMLElement): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) {
    if (event.key === 'Enter' && event.target === input) results.querySelector('a')?.click();
    return;
  }
  event.preventDefault();
  const stops = [input, ...results.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement as HTMLInputElement); // -1 for another element
  stops[Math.min(Math.max(0, at + step), stops.length - 1)]?.focus();
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = '',
  text = '',
): HTMLElementTagNameMap[Name] {
  const created = document.createElement(name);
  created.className = className;
  created.textContent = text;
  return created;
}
