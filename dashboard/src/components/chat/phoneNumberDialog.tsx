import { useState } from 'react';
import { chatStrings } from '../../strings/chats.ts';
import { Dialog } from '../dialog.tsx';
import { TextField } from '../field.tsx';
import { Form } from '../form.tsx';

/** Asks for the phone number of a new chat, or of a recipient. */
export function PhoneNumberDialog({
  title,
  confirm = chatStrings.open,
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
      <Form
        submit={confirm}
        disabled={digits.length < 5}
        onCancel={() => onOpenChange(false)}
        onSubmit={() => {
          setNumber('');
          onOpenChange(false);
          onChoose(digits);
        }}
      >
        <TextField
          label={chatStrings.number}
          hint={chatStrings.numberHint}
          type="tel"
          required
          autoFocus
          value={number}
          onChange={(event) => setNumber(event.currentTarget.value)}
        />
      </Form>
    </Dialog>
  );
}
