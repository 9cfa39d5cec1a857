import type { Group } from '@switchboard/sdk/api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { api, errorText, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { MediaPicture } from '../../components/chat/mediaView.tsx';
import { Actions } from '../../components/dialog.tsx';
import { useEdits } from '../../components/edits.ts';
import { CheckField, TextArea, TextField } from '../../components/field.tsx';
import { Card } from '../../components/layout.tsx';
import { Notice } from '../../components/notice.tsx';
import { useToast } from '../../components/toast.tsx';
import { isCancelled, UploadProgress, uploadStatus, useUpload } from '../../components/upload.tsx';
import { groupWords } from '../../strings/groups.ts';
import { words } from '../../strings/shared.ts';

interface AboutProps {
  readonly group: Group;
  readonly canChange: boolean;
  readonly isAdmin: boolean;
}

const settingNames = ['announce', 'locked', 'joinApproval'] as const;

/** What a group is called and looks like, and who may do what in it. */
export function AboutCard({ group, canChange, isAdmin }: AboutProps) {
  const { groupId } = group;
  // Every change is told to the members: nothing goes out that is as it was.
  const { values, edit, changed, saved } = useEdits({
    subject: group.subject,
    description: group.description ?? '',
    ...group.settings,
  });
  const queries = useQueryClient();
  const toast = useToast();
  const save = useMutation({
    mutationFn: ({ subject, description, ...settings }: typeof changed) =>
      api.groups.update({
        groupId,
        ...(subject !== undefined && { subject }),
        ...(description !== undefined && { description: description || null }),
        ...(isAdmin && { settings }),
      }),
    onSuccess: async (_, sent) => {
      toast(words.saved);
      await queries.invalidateQueries({ queryKey: ['groups'] });
      saved(sent);
    },
  });

  return (
    <Card title={groupWords.about}>
      <div className="grid gap-5">
        <Picture group={group} canChange={canChange} />
        <form
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate(changed);
          }}
        >
          {save.error !== null && <Notice tone="bad">{errorText(save.error)}</Notice>}
          <TextField
            label={groupWords.subject}
            error={fieldError(save.error, 'subject')}
            required
            maxLength={100}
            disabled={!canChange}
            value={values.subject}
            onChange={(event) => edit({ subject: event.currentTarget.value })}
          />
          <TextArea
            label={groupWords.description}
            error={fieldError(save.error, 'description')}
            isOptional
            rows={3}
            disabled={!canChange}
            value={values.description}
            onChange={(event) => edit({ description: event.currentTarget.value })}
          />
          <fieldset disabled={!isAdmin} className="grid gap-2">
            <legend className="mb-2 text-sm font-medium">{groupWords.settings}</legend>
            {settingNames.map((name) => (
              <CheckField
                key={name}
                label={groupWords[name]}
                checked={values[name]}
                onChange={({ currentTarget: { checked } }) => edit({ [name]: checked })}
              />
            ))}
          </fieldset>
          {canChange ? (
            <Actions>
              <Button type="submit" look="primary" busy={save.isPending}>
                {words.save}
              </Button>
            </Actions>
          ) : (
            <p className="text-xs text-ink-faint">{groupWords.adminsOnly}</p>
          )}
        </form>
      </div>
    </Card>
  );
}

function Picture({ group: { groupId, subject, pictureMediaId }, canChange }: Omit<AboutProps, 'isAdmin'>) {
  const picker = useRef<HTMLInputElement>(null);
  const queries = useQueryClient();
  const toast = useToast();
  const upload = useUpload();
  const set = useMutation({
    mutationFn: async (file: File | null) => {
      const media = file === null ? null : await upload.send(file);
      await api.groups.update({ groupId, pictureMediaId: media?.mediaId ?? null });
    },
    onSuccess: () => {
      toast(groupWords.pictureSaved);
      return queries.invalidateQueries({ queryKey: ['groups'] });
    },
    onError: (error) => isCancelled(error) || toast(errorText(error), 'bad'),
  });

  function choose(file: File | undefined) {
    if (file === undefined) return;
    const refusal = upload.refusalOf(file);
    if (refusal === undefined) set.mutate(file);
    else toast(refusal, 'bad');
  }

  return (
    <div className="grid justify-items-start gap-2">
      {pictureMediaId !== null && (
        <MediaPicture key={pictureMediaId} mediaId={pictureMediaId} name={groupWords.pictureOf(subject)} />
      )}
      {canChange && (
        <div className="flex flex-wrap gap-2">
          <input
            ref={picker}
            type="file"
            accept="image/*"
            hidden
            onChange={({ currentTarget }) => {
              choose(currentTarget.files?.[0]);
              currentTarget.value = '';
            }}
          />
          <Button size="small" busy={set.isPending} onClick={() => picker.current?.click()}>
            {groupWords.choosePicture}
          </Button>
          {pictureMediaId !== null && (
            <Button size="small" look="quiet" disabled={set.isPending} onClick={() => set.mutate(null)}>
              {groupWords.removePicture}
            </Button>
          )}
        </div>
      )}
      <p role="status" className="text-xs text-ink-soft empty:hidden">
        {upload.sending !== undefined && uploadStatus(upload.sending)}
      </p>
      {upload.sending !== undefined && (
        <div className="w-full max-w-sm">
          <UploadProgress sending={upload.sending} />
        </div>
      )}
    </div>
  );
}
