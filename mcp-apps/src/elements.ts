import './style.css';

type Child = Node | string | undefined | false;

/** Creates an element. Texts become text nodes, never HTML: many come from third parties. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child): child is Node | string => child !== undefined && child !== false));
  return element;
}

export function button(label: string, onClick: () => void, attributes: Readonly<Record<string, string>> = {}) {
  const element = h('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', onClick);
  return element;
}

/**
 * Shows control characters and marks that change the direction of writing as their code, so that a text of a third
 * party reads in the order in which it is.
 */
export const visible = (text: string): string =>
  text.replace(
    /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

/** The element that holds the app. */
export function root(): HTMLElement {
  const element = document.querySelector('main');
  if (element === null) throw new Error('the page has no main element');
  return element;
}

/** Changes a text only if it differs, so that screen readers do not repeat it. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
