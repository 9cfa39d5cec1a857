import { useSyncExternalStore } from 'react';

export type ThemeChoice = 'system' | 'light' | 'dark';

/** Also in `public/static/early.js`, which sets the theme before the first paint. */
const KEY = 'theme';
const isDarkSystem = matchMedia('(prefers-color-scheme: dark)');

/** The chosen theme, which is that of the system by default. */
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
    // Storage is disabled: the choice lasts for this page.
  }
  show(choice);
}

/** Switches between light and dark. A reader whose choice is that of the system follows the system again. */
export function toggleTheme(): void {
  const next = shownTheme() === 'dark' ? 'light' : 'dark';
  chooseTheme(next === systemTheme() ? 'system' : next);
}

/** Follows the theme of the system unless the reader has chosen one. */
export function followSystemTheme(): void {
  isDarkSystem.addEventListener('change', () => show(readThemeChoice()));
}

/** The current theme, for drawing that CSS cannot color. */
export function useTheme(): 'light' | 'dark' {
  return useSyncExternalStore(watchTheme, shownTheme);
}

export function shownTheme(): 'light' | 'dark' {
  return document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light';
}

function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => observer.disconnect();
}

function show(choice: ThemeChoice): void {
  document.documentElement.dataset['theme'] = choice === 'system' ? systemTheme() : choice;
}

function systemTheme(): 'light' | 'dark' {
  return isDarkSystem.matches ? 'dark' : 'light';
}
