import { messageWords } from '../strings/chats.ts';

export function formatFileSize(bytes: number): string {
  if (bytes < 1_000_000) return messageWords.kilobytes(Math.max(1, Math.round(bytes / 1000)));
  return messageWords.megabytes((bytes / 1_000_000).toFixed(1));
}
