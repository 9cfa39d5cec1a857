import type { Message } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useEffect, useState } from 'react';
import { api, errorText } from '../../api.ts';
import { formatFileSize } from '../../model/fileSize.ts';
import { messageStrings } from '../../strings/chats.ts';
import { Button } from '../button.tsx';
import { useToast } from '../toast.tsx';

type MediaOf = NonNullable<Message['media']>;

/** Larger files, and all that are not images, load on demand. */
const SHOWN_AT_ONCE_BYTES = 5_000_000;

const KEPT_MS = 30_000;
/** The browser reads a downloaded file after the click. */
const DOWNLOAD_MS = 60_000;

/** Shows an image, audio or video of a message, and offers any other file for download. */
export function MediaView({ media, type }: { readonly media: MediaOf; readonly type: Message['type'] }) {
  const [kind] = media.mimeType.split('/');
  const isShown = kind === 'image' || kind === 'audio' || kind === 'video';
  const [isRequested, setRequested] = useState(kind === 'image' && media.size <= SHOWN_AT_ONCE_BYTES);
  if (!isShown || type === 'document') return <FileLink media={media} />;
  if (!isRequested) {
    return (
      <Button size="small" onClick={() => setRequested(true)}>
        {messageStrings.load(formatFileSize(media.size))}
      </Button>
    );
  }
  return (
    <MediaElement mediaId={media.mediaId} name={media.fileName ?? ''} kind={kind} isSticker={type === 'sticker'} />
  );
}

/** An image outside of a message. */
export function MediaPicture({ mediaId, name }: { readonly mediaId: string; readonly name: string }) {
  return <MediaElement mediaId={mediaId} name={name} kind="image" isSticker={false} />;
}

function MediaElement({
  mediaId,
  name,
  kind,
  isSticker,
}: {
  readonly mediaId: string;
  readonly name: string;
  readonly kind: 'image' | 'audio' | 'video';
  readonly isSticker: boolean;
}) {
  const { url, failed } = useContent(mediaId);
  if (failed) return <p className="text-sm text-bad">{messageStrings.mediaGone}</p>;
  // Reserves space, so that messages do not jump when it loads.
  if (url === undefined) return <div className="pulse-slow h-40 w-56 rounded-lg bg-sunken" />;
  // biome-ignore lint/a11y/useMediaCaption: files of messages have no captions
  if (kind === 'audio') return <audio controls src={url} aria-label={name || messageStrings.kinds.audio} />;
  if (kind === 'video') {
    // biome-ignore lint/a11y/useMediaCaption: see above
    return <video controls src={url} aria-label={name || messageStrings.kinds.video} className="max-h-72 rounded-lg" />;
  }
  return (
    <img
      src={url}
      alt={messageStrings.picture(name)}
      className={isSticker ? 'max-h-32 max-w-full' : 'max-h-72 max-w-full rounded-lg'}
    />
  );
}

/** Loads a file into an object URL: an `<img>` could not send the header of the dashboard. */
function useContent(mediaId: string): { readonly url: string | undefined; readonly failed: boolean } {
  const { data, isError } = useQuery({
    queryKey: ['media', mediaId, 'content'],
    queryFn: async () => (await api.media.content({ mediaId })).blob(),
    staleTime: Number.POSITIVE_INFINITY,
    // Kept for readers who scroll back, but not for the whole conversation.
    gcTime: KEPT_MS,
  });
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (data === undefined) return;
    const made = URL.createObjectURL(data);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  return { url, failed: isError };
}

function FileLink({ media: { mediaId, fileName, size } }: { readonly media: MediaOf }) {
  const toast = useToast();
  const name = fileName ?? messageStrings.file;

  async function download() {
    try {
      const content = await (await api.media.content({ mediaId })).blob();
      // Without its type, so that the browser saves it and does not open it on our origin.
      const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
      const link = document.createElement('a');
      link.href = url;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), DOWNLOAD_MS);
    } catch (error) {
      toast(errorText(error), 'bad');
    }
  }

  return (
    <Button
      size="small"
      icon={<Download className="size-4 shrink-0" />}
      onClick={download}
      aria-label={messageStrings.download(name)}
      className="max-w-full"
    >
      <span className="truncate">{name}</span>
      <span className="text-ink-faint">{formatFileSize(size)}</span>
    </Button>
  );
}
