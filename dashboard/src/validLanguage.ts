/*
 * Replaces a browser language that `Intl` rejects. Chromium reports `en-US@posix` in the locales "C" and "POSIX", and
 * uPlot creates a formatter from it when it is imported: import this module first.
 */

if (!isValid(navigator.language)) Object.defineProperty(navigator, 'language', { value: 'en' });

function isValid(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
}
