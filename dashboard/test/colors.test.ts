import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const style = readFileSync(new URL('../src/theme.css', import.meta.url), 'utf8');

/** The colors of a theme by name. */
function palette(selector: string): ReadonlyMap<string, string> {
  const from = style.indexOf(`${selector} {`);
  const block = style.slice(from, style.indexOf('}', from));
  return new Map([...block.matchAll(/--([\w-]+): (#[\da-f]{6});/g)].map(([, name = '', color = '']) => [name, color]));
}

/** https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

describe('theme color of the browser', () => {
  it('matches the page in both themes', () => {
    const pages = ['index.html', 'reference.html'].map((file) =>
      readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'),
    );
    for (const [theme, selector] of [
      ['light', ':root'],
      ['dark', ':root[data-theme="dark"]'],
    ] as const)
      for (const html of pages)
        assert.ok(
          html.includes(`content="${palette(selector).get('paper')}" media="(prefers-color-scheme: ${theme})"`),
        );
  });
});

// Axe does not check these (WCAG 2.2, 1.4.11).
describe('input borders, status dots and plot lines', () => {
  for (const selector of [':root', ':root[data-theme="dark"]']) {
    it(`contrast with a card by 3:1 under ${selector}`, () => {
      const colors = palette(selector);
      for (const name of ['line-strong', 'good-lamp', 'warn-lamp', 'bad-lamp', 'accent']) {
        const found = contrast(colors.get(name) ?? '', colors.get('surface') ?? '');
        assert.ok(found >= 3, `${name}: ${found}`);
      }
    });
  }
});
