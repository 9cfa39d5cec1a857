import { Fragment, useState } from 'react';
import { messageStrings } from '../../strings/chats.ts';
import { Button } from '../button.tsx';

/** Texts beyond this are folded: anyone can send 65,536 characters, and a chat shows many messages. */
const SHOWN_CHARACTERS = 3000;
/** Browsers take seconds to break a word of 65,536 characters into lines, so long words get places to break at. */
const UNBROKEN = /(\S{100})/u;

/** The text of a message. A long one is folded until the reader asks for all of it. */
export function LongText({ text, className }: { readonly text: string; readonly className?: string | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const isFolded = text.length > SHOWN_CHARACTERS && !isWhole;
  const shown = isFolded ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text;
  return (
    <>
      <p className={className} dir="auto">
        {shown.split(UNBROKEN).map((part, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have nothing but their place
          <Fragment key={place}>
            {place > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
      </p>
      {isFolded && (
        <Button look="quiet" size="small" className="justify-self-start" onClick={() => setWhole(true)}>
          {messageStrings.showAll(text.length)}
        </Button>
      )}
    </>
  );
}
