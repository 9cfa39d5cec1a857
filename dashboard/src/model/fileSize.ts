import { messageStrings } from '../strings/chats.ts';

export function formatFileSize(bytes: number): string {
  if (bytes < 1_000_000) return messageStrings.kilobytes(Math.max(1, Math.round(bytes / 1000)));
  return messageStrings.megabytes((bytes / 1_000_000).toFixed(1));
}
