import './style.css';
import { followSystemTheme, shownTheme, toggleTheme } from '../../../dashboard/src/theme.ts';
import { movedSections } from '../movedSections.ts';
import { addCopyButtons } from './copy.ts';
import { markCurrentSection } from './outline.ts';

const BASE = '/docs/guides/';
const moved = movedSections[location.pathname.slice(BASE.length) + location.hash];
if (moved !== undefined) location.replace(BASE + moved);

/** Shows a button that needs this script, and runs `action` when it is pressed. */
function activate(name: string, action: (button: HTMLButtonElement) => void): HTMLButtonElement | null {
  const button = document.querySelector<HTMLButtonElement>(`[data-action="${name}"]`);
  if (button === null) return null;
  button.hidden = false;
  button.addEventListener('click', () => action(button));
  return button;
}

followSystemTheme();
activate('theme', (button) => {
  toggleTheme();
  nameTheme(button);
});
const themeButton = document.querySelector<HTMLButtonElement>('[data-action="theme"]');
if (themeButton !== null) nameTheme(themeButton);

function nameTheme(button: HTMLButtonElement): void {
  const label = shownTheme() === 'dark' ? 'Switch to the light theme' : 'Switch to the dark theme';
  button.setAttribute('aria-label', label);
  button.title = label;
}

const pagesButton = activate('pages', () => showPages(!document.documentElement.classList.contains('shows-pages')));
function showPages(isShown: boolean): void {
  document.documentElement.classList.toggle('shows-pages', isShown);
  pagesButton?.setAttribute('aria-expanded', String(isShown));
}

const openSearch = () => void import('./search.ts').then(({ openSearch: open }) => open());
activate('search', openSearch);
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    if (document.documentElement.classList.contains('shows-pages')) pagesButton?.focus();
    showPages(false);
  }
  const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, select') !== null;
  const isCommand = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
  if (!isCommand && (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey)) return;
  event.preventDefault();
  openSearch();
});

document.querySelector('.pages [aria-current]')?.scrollIntoView({ block: 'nearest' });
addCopyButtons();
markCurrentSection();
