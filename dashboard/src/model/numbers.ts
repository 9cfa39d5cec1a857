/** Splits a text at commas, semicolons and line breaks. The server validates the numbers. */
export function parsePhoneNumbers(text: string): string[] {
  return text
    .split(/[,;\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
