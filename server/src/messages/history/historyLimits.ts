import type { HistoryMessage, RemoteFile } from '../../connectors/contract/history.ts';
import { cleanFileName } from '../../media/content.ts';

/** Ids that senders choose are in indexes, in which PostgreSQL stores no long values. */
const ID_CHARACTERS = 300;
const MIME_CHARACTERS = 100;
const REFERENCE_CHARACTERS = 16 * 1024;

/**
 * Returns the messages within the limits of the database. Senders choose ids, and what their files are called. A
 * message with a longer id is left out, a reply to one is a plain message, and a longer reference to a file is left
 * out with its file.
 */
export function historyWithinLimits(messages: readonly HistoryMessage[]): HistoryMessage[] {
  return messages
    .filter(({ networkId }) => networkId.length <= ID_CHARACTERS)
    .map(({ file, ...message }) => {
      const replyTo = (message.replyTo?.length ?? 0) <= ID_CHARACTERS ? message.replyTo : null;
      const isShort = file !== undefined && file.reference.length <= REFERENCE_CHARACTERS;
      return { ...message, replyTo, ...(isShort && { file: fileWithinLimits(file) }) };
    });
}

function fileWithinLimits({ mimeType, size, fileName, reference }: RemoteFile): RemoteFile {
  return {
    mimeType: mimeType.slice(0, MIME_CHARACTERS).toWellFormed(),
    size: Number.isSafeInteger(size) && size > 0 ? size : 0,
    fileName: cleanFileName(fileName),
    reference,
  };
}
