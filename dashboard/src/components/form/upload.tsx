import type { Media } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { connectorsQuery } from '../../model/connectors.ts';
import { formatFileSize } from '../../model/fileSize.ts';
import { uploadStrings } from '../../strings/uploads.ts';
import { IconButton } from '../button.tsx';
import { classes } from '../classes.ts';

/** A file that is being uploaded. */
export interface Sending {
  readonly name: string;
  /** 0 to 100. Undefined until the browser reports progress. */
  readonly percent: number | undefined;
  readonly cancel: () => void;
}

interface Upload {
  /** Undefined unless a file is being uploaded. */
  readonly sending: Sending | undefined;
  /** Why the server would reject a file. Undefined if it would not, or if its limit is unknown. */
  readonly refusalOf: (file: File) => string | undefined;
  /** @throws like the client; `isCancelled` recognizes a cancellation */
  readonly send: (file: File) => Promise<Media>;
}

/** Uploads files, one at a time, with the progress for `UploadProgress`. */
export function useUpload(): Upload {
  const { data: limits } = useQuery(connectorsQuery);
  const [sending, setSending] = useState<Sending>();

  async function send(file: File): Promise<Media> {
    const { name } = file;
    const giveUp = new AbortController();
    const cancel = () => giveUp.abort();
    setSending({ name, percent: undefined, cancel });
    try {
      return await api.media.upload(
        file,
        { fileName: name },
        {
          signal: giveUp.signal,
          onProgress: ({ sentBytes, totalBytes }) =>
            setSending({ name, percent: totalBytes && Math.floor((100 * sentBytes) / totalBytes), cancel }),
        },
      );
    } finally {
      setSending(undefined);
    }
  }

  function refusalOf({ name, size }: File): string | undefined {
    if (limits === undefined || size <= limits.mediaMaxBytes) return undefined;
    return uploadStrings.tooLarge(name, formatFileSize(size), formatFileSize(limits.mediaMaxBytes));
  }

  return { sending, refusalOf, send };
}

/** Whether the reader cancelled the upload, which is not a failure. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Describes the state of an upload. */
export function uploadStatus({ name, percent }: Sending): string {
  return percent === 100 ? uploadStrings.storing(name) : uploadStrings.sending(name);
}

/** The progress of an upload with its cancel button. The bar pulses while the progress is unknown. */
export function UploadProgress({ sending: { name, percent, cancel } }: { readonly sending: Sending }) {
  const known = percent === 100 ? undefined : percent;
  return (
    <div className="flex items-center gap-2 pl-3 text-xs text-ink-soft">
      <div
        role="progressbar"
        aria-label={uploadStrings.progress(name)}
        aria-valuenow={known}
        aria-valuemin={0}
        aria-valuemax={100}
        className="h-1.5 min-w-0 flex-1 overflow-hidden rounded-full bg-line"
      >
        <div
          className={classes('h-full rounded-full bg-accent', known === undefined && 'pulse-slow')}
          style={{ width: `${known ?? 100}%` }}
        />
      </div>
      {known !== undefined && (
        <span aria-hidden className="w-10 text-right tabular-nums">
          {uploadStrings.percent(known)}
        </span>
      )}
      <IconButton label={uploadStrings.cancel(name)} onClick={cancel}>
        <X />
      </IconButton>
    </div>
  );
}
