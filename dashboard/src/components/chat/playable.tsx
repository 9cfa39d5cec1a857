import type { Message } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { api } from '../../api.ts';
import { formatFileSize } from '../../model/fileSize.ts';
import { messageStrings } from '../../strings/chats.ts';
import { Button } from '../button.tsx';
import { classes } from '../classes.ts';
import { kindStrings } from './kindStrings.ts';

/* The parts of a sound or a video in a chat that are there before it loads. */

/** The kind and duration of a sound or video: "Voice message · 0:12". */
export function PlayableCaption({ message }: { readonly message: Message }) {
  const { type, gif, videoNote, media, mediaFacts } = message;
  const kind = gif ? kindStrings.marks.gif : videoNote ? kindStrings.marks.videoNote : messageStrings.kinds[type];
  const seconds = mediaFacts?.durationSeconds;
  // Otherwise the button says the size.
  const size = mediaFacts?.hasThumbnail && media !== undefined && formatFileSize(media.size);
  const parts = [kind, seconds !== undefined && clock(seconds), size].filter(Boolean);
  return <p className="text-xs text-ink-faint">{parts.join(' · ')}</p>;
}

const WAVE = { width: 4, height: 24 };

/** The loudness of a voice message over its duration. */
export function Waveform({ values }: { readonly values: readonly number[] | undefined }) {
  if (values === undefined || values.length === 0) return null;
  const bars = values.map((value, index) => {
    const height = Math.max(1, (value / 100) * WAVE.height);
    return `M${index * WAVE.width + WAVE.width / 2} ${(WAVE.height - height) / 2}v${height}`;
  });
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${values.length * WAVE.width} ${WAVE.height}`}
      preserveAspectRatio="none"
      className="h-6 w-48 max-w-full text-accent"
    >
      <path d={bars.join('')} stroke="currentColor" strokeWidth="2" />
    </svg>
  );
}

interface LoadProps {
  readonly message: Message;
  readonly size: number;
  readonly onLoad: () => void;
}

/** Loads a sound or video when it is pressed. A video shows its thumbnail, if it has one. */
export function LoadButton({ message, size, onLoad }: LoadProps) {
  const { media, mediaFacts, videoNote } = message;
  const label = messageStrings.load(formatFileSize(size));
  if (media === undefined || mediaFacts?.hasThumbnail !== true) {
    return (
      <Button size="small" onClick={onLoad} className="justify-self-start">
        {label}
      </Button>
    );
  }
  const { width = 4, height = 3 } = mediaFacts;
  return (
    <button
      type="button"
      aria-label={label}
      onClick={onLoad}
      className={classes(
        'relative block w-48 max-w-full overflow-clip bg-sunken',
        videoNote ? 'rounded-full' : 'rounded-lg',
      )}
      // A file with wrong facts must not fill the chat.
      style={{ aspectRatio: videoNote ? 1 : Math.min(3, Math.max(0.5, width / height)) }}
    >
      <Thumbnail mediaId={media.mediaId} />
      <span className="absolute inset-0 grid place-items-center">
        <span className="rounded-full bg-surface p-2.5 text-ink">
          <Play className="size-5" />
        </span>
      </span>
    </button>
  );
}

function Thumbnail({ mediaId }: { readonly mediaId: string }) {
  const { data } = useQuery({
    queryKey: ['media', mediaId, 'thumbnail'],
    queryFn: async () => (await api.media.get({ mediaId, thumbnail: true })).thumbnail ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!data) return null;
  return <img src={`data:image/jpeg;base64,${data}`} alt="" className="size-full object-cover" />;
}

/** "0:07", "1:02:03". */
function clock(seconds: number): string {
  const two = (count: number) => String(count).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
