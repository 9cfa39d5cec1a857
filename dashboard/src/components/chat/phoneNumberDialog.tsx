import { useState } from 'react';
import { chatWords } from '../../strings/chats.ts';
import { words } from '../../strings/shared.ts';
import { Button } from '../button.tsx';
import { Actions, Dialog } from '../dialog.tsx';
import { TextField } from '../field.tsx';

/** Asks for the number that a chat begins with, or that a message goes to. */
export function PhoneNumberDialog({
  title,
  confirm = chatWords.begin,
  open,
  onOpenChange,
  onChoose,
}: {
  readonly title: string;
  readonly confirm?: string;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onChoose: (phoneNumber: string) => void;
}) {
  const [number, setNumber] = useState('');
  const digits = number.replace(/\D/g, '');
  return (
    <Dialog title={title} open={open} onOpenChange={onOpenChange}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setNumber('');
          onOpenChange(false);
          onChoose(digits);
        }}
      >
        <TextField
          label={chatWords.number}
          hint={chatWords.numberHint}
          type="tel"
          required
          autoFocus
          value={number}
          onChange={(event) => setNumber(event.currentTarget.value)}
        />
        <Actions>
          <Button onClick={() => onOpenChange(false)}>{words.cancel}</Button>
          <Button type="submit" look="primary" disabled={digits.length < 5}>
            {confirm}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
