import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { chatStrings } from '../../strings/chats.ts';
import { Dialog } from '../dialog/dialog.tsx';
import { TextField } from '../form/field.tsx';
import { Form } from '../form/form.tsx';

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
  /** If it returns a promise, the dialog stays open until that resolves, and shows the error if it rejects. */
  readonly onChoose: (phoneNumber: string) => unknown;
}) {
  const [number, setNumber] = useState('');
  const digits = number.replace(/\D/g, '');
  const choice = useMutation({
    mutationFn: async () => onChoose(digits),
    onSuccess: () => change(false),
  });

  function change(isOpen: boolean) {
    setNumber('');
    choice.reset();
    onOpenChange(isOpen);
  }

  return (
    <Dialog title={title} open={open} onOpenChange={change}>
      <Form
        submit={confirm}
        error={choice.error}
        busy={choice.isPending}
        disabled={digits.length < 5}
        onCancel={() => change(false)}
        onSubmit={() => choice.mutate()}
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
