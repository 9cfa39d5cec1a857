import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { sharedStrings } from '../strings/shared.ts';
import { IconButton } from './button.tsx';
import { useToast } from './toast.tsx';

/** Copies a text to the clipboard. */
export function CopyButton({ text, label = sharedStrings.copy }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const toast = useToast();

  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);

  async function copy() {
    try {
      await writeClipboard(text);
      setCopied(true);
      toast(sharedStrings.copied);
    } catch {
      toast(sharedStrings.copyFailed, 'bad');
    }
  }

  return (
    <IconButton label={label} onClick={copy}>
      {isCopied ? <Check className="text-good" /> : <Copy />}
    </IconButton>
  );
}

/** Browsers offer `clipboard` only to pages served by https or from this machine. The fallback works everywhere. */
async function writeClipboard(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  // Inside an open dialog, which would take the focus from any other element.
  (document.querySelector('[role="dialog"]') ?? document.body).append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (!isDone) throw new Error('the browser does not copy');
}
