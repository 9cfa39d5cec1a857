const SHOWN_MS = 2000;

/** Adds a button to every block of code that copies it. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll('.code')) {
    const code = block.querySelector('code')?.textContent;
    if (code == null) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const isDone = await writeClipboard(code.trimEnd(), block);
      button.textContent = isDone ? 'Copied' : 'Press Ctrl+C';
      setTimeout(() => (button.textContent = 'Copy'), SHOWN_MS);
    });
    block.append(button);
  }
}

/**
 * Copies a text. Browsers offer `clipboard` only to pages served by https or from this machine, so otherwise the code
 * is selected for the reader to copy.
 */
async function writeClipboard(text: string, block: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const code = block.querySelector('code');
    if (code !== null) getSelection()?.selectAllChildren(code);
    return document.execCommand('copy');
  }
}
