/** The keywords of Python 3. */
const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** Whether Python takes this as the name of a variable. */
export const isName = (name: string) => /^[a-z_]\w*$/i.test(name) && !KEYWORDS.has(name);

/** A name of the API in the Python client: `sendAt` is `send_at`, and `from` is `from_`. */
export function pythonName(name: string): string {
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return KEYWORDS.has(snake) ? `${snake}_` : snake;
}
