/** Phone numbers out of a text: between commas, semicolons or lines. What they are worth, the server says. */
export function parsePhoneNumbers(text: string): string[] {
  return text
    .split(/[,;\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
