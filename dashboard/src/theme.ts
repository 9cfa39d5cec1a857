import { useSyncExternalStore } from 'react';

export type ThemeChoice = 'system' | 'light' | 'dark';

/** The same key as in `public/static/early.js`, which sets the theme before the first paint. */
const KEY = 'theme';
const isDarkSystem = matchMedia('(prefers-color-scheme: dark)');

/** What the reader has chosen: the system's theme unless they say otherwise. */
export function readThemeChoice(): ThemeChoice {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}

export function chooseTheme(choice: ThemeChoice): void {
  try {
    if (choice === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch {
    // Storage is switched off: it holds for this page.
  }
  show(choice);
}

/** Follows the system while the reader has chosen nothing. */
export function followSystemTheme(): void {
  isDarkSystem.addEventListener('change', () => show(readThemeChoice()));
}

/** The theme that is shown, for what CSS cannot colour. */
export function useTheme(): 'light' | 'dark' {
  return useSyncExternalStore(watchTheme, shownTheme);
}

function shownTheme(): 'light' | 'dark' {
  return document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light';
}

function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => observer.disconnect();
}

function show(choice: ThemeChoice): void {
  const system = isDarkSystem.matches ? 'dark' : 'light';
  document.documentElement.dataset['theme'] = choice === 'system' ? system : choice;
}
