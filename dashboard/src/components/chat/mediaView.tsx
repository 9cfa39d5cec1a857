import type { Message } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useEffect, useState } from 'react';
import { api, errorText } from '../../api.ts';
import { useAction } from '../../model/actions.ts';
import { displayName, plainName } from '../../model/displayName.ts';
import { formatFileSize } from '../../model/fileSize.ts';
import { messageStrings } from '../../strings/chats.ts';
import { Button } from '../button.tsx';
import { isNotFound } from '../page/states.tsx';
import { useToast } from '../toast.tsx';
import { LoadButton, PlayableCaption, Waveform } from './playable.tsx';

type MediaOf = NonNullable<Message['media']>;

/** Larger files, and all that are not images, load on demand. */
const SHOWN_AT_ONCE_BYTES = 5_000_000;

const KEPT_MS = 30_000;
/** The browser reads a downloaded file after the click. */
const DOWNLOAD_MS = 60_000;

/** Shows an image, audio or video of a message, and offers any other file for download. */
export function MediaView({ media, message }: { readonly media: MediaOf; readonly message: Message }) {
  const { type, gif = false, videoNote = false, mediaFacts } = message;
  const [kind] = media.mimeType.split('/');
  const [isRequested, setRequested] = useState(kind === 'image' && media.size <= SHOWN_AT_ONCE_BYTES);
  const isPlayable = (kind === 'audio' || kind === 'video') && type !== 'document';
  if (media.available === false) {
    return (
      <>
        {isPlayable && <PlayableCaption message={message} />}
        <FileDeleted />
      </>
    );
  }
  if (type === 'document' || (kind !== 'image' && !isPlayable)) return <FileLink media={media} />;
  const shape = type === 'sticker' ? 'sticker' : gif ? 'gif' : videoNote ? 'note' : 'plain';
  return (
    <>
      {kind === 'audio' && <Waveform values={mediaFacts?.waveform} />}
      {isRequested ? (
        <MediaElement mediaId={media.mediaId} name={displayName(media.fileName ?? '')} kind={kind} shape={shape} />
      ) : (
        <LoadButton message={message} size={media.size} onLoad={() => setRequested(true)} />
      )}
      {isPlayable && <PlayableCaption message={message} />}
    </>
  );
}

/** The video of a live photo, on demand. */
export function LivePhoto({ video }: { readonly video: NonNullable<Message['livePhoto']> }) {
  const [isRequested, setRequested] = useState(false);
  if (isRequested) return <MediaElement mediaId={video.mediaId} name="" kind="video" shape="gif" />;
  return (
    <Button size="small" onClick={() => setRequested(true)} className="justify-self-start">
      {messageStrings.livePhoto(formatFileSize(video.size))}
    </Button>
  );
}

/** A file that is still at the network, which keeps it for some weeks. */
export function RemoteFile({ message }: { readonly message: Message }) {
  const { messageId, remoteMedia } = message;
  const { run, isPending } = useAction('messages');
  if (remoteMedia === undefined) return null;
  const { fileName, size } = remoteMedia;
  const name = fileName === null ? messageStrings.kinds[message.type] : displayName(fileName);
  return (
    <Button size="small" busy={isPending} onClick={() => run(() => api.messages.fetchMedia({ messageId }))}>
      {messageStrings.fetch(name, size > 0 ? formatFileSize(size) : undefined)}
    </Button>
  );
}

function FileDeleted() {
  return <p className="text-ink-faint italic">{messageStrings.fileDeleted}</p>;
}

/** An image outside of a message. */
export function MediaPicture({ mediaId, name }: { readonly mediaId: string; readonly name: string }) {
  return <MediaElement mediaId={mediaId} name={name} kind="image" shape="plain" />;
}

function MediaElement({
  mediaId,
  name,
  kind,
  shape,
}: {
  readonly mediaId: string;
  readonly name: string;
  readonly kind: 'image' | 'audio' | 'video';
  readonly shape: 'plain' | 'sticker' | 'gif' | 'note';
}) {
  const { url, failed, isGone } = useContent(mediaId);
  if (isGone) return <FileDeleted />;
  if (failed) return <p className="text-sm text-bad">{messageStrings.mediaGone}</p>;
  // Reserves space, so that messages do not jump when it loads.
  if (url === undefined) return <div className="pulse-slow h-40 w-56 rounded-lg bg-sunken" />;
  if (kind === 'audio') {
    const label = name || messageStrings.kinds.audio;
    // biome-ignore lint/a11y/useMediaCaption: files of messages have no captions
    return <audio controls src={url} aria-label={label} className="max-w-full" />;
  }
  if (kind === 'video') {
    return (
      <video
        src={url}
        aria-label={name || messageStrings.kinds.video}
        className={
          shape === 'note'
            ? 'aspect-square w-48 max-w-full rounded-full object-cover'
            : 'max-h-72 max-w-full rounded-lg'
        }
        playsInline
        {...(shape === 'gif' ? { autoPlay: true, loop: true, muted: true } : { controls: true })}
      />
    );
  }
  return (
    <img
      src={url}
      alt={messageStrings.picture(name)}
      className={shape === 'sticker' ? 'max-h-32 max-w-full' : 'max-h-72 max-w-full rounded-lg'}
    />
  );
}

/** Loads a file into an object URL: an `<img>` could not send the header of the dashboard. */
function useContent(mediaId: string) {
  const { data, isError, error } = useQuery({
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
  return { url, failed: isError, isGone: isNotFound(error) };
}

function FileLink({ media: { mediaId, fileName, size } }: { readonly media: MediaOf }) {
  const toast = useToast();
  const name = displayName(fileName ?? '') || messageStrings.file;

  async function download() {
    try {
      const content = await (await api.media.content({ mediaId })).blob();
      // Without its type, so that the browser saves it and does not open it on our origin.
      const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
      const link = document.createElement('a');
      link.href = url;
      link.download = plainName(name);
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
