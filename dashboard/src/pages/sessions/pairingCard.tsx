import { ApiError } from '@switchboard/sdk/errors';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copyButton.tsx';
import { TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Card } from '../../components/page/layout.tsx';
import { Failure } from '../../components/page/states.tsx';
import { duration, useNow } from '../../components/text/time.tsx';
import { SANDBOX } from '../../model/sessions.ts';
import { sessionStrings } from '../../strings/sessions.ts';
import { QrCode } from './qrCode.tsx';

interface PairingProps {
  readonly sessionId: string;
  readonly connector: string;
}

/** Pairs a phone by QR code or by pairing code. */
export function PairingCard({ sessionId, connector }: PairingProps) {
  return (
    <Card title={sessionStrings.pairing}>
      <div className="grid grid-cols-1 items-start gap-8 wide:grid-cols-2">
        <ByQr sessionId={sessionId} connector={connector} />
        <ByCode sessionId={sessionId} />
      </div>
    </Card>
  );
}

/** Delay before a due or missing code is fetched. */
const SOONEST_MS = 700;
/** Longest delay, because a wrong clock makes codes seem valid for long. */
const LATEST_MS = 5000;

function ByQr({ sessionId, connector }: PairingProps) {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['sessions', sessionId, 'qr'],
    queryFn: async () => {
      try {
        return await api.sessions.getQr({ sessionId });
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'session_state')) throw error;
        // The session no longer awaits pairing: refetch its status.
        void queries.invalidateQueries({ queryKey: ['sessions', sessionId], exact: true });
        return null;
      }
    },
    // A cached code may have expired.
    gcTime: 0,
    refetchInterval: ({ state }) =>
      Math.min(LATEST_MS, Math.max(SOONEST_MS, state.data ? Date.parse(state.data.expiresAt) - Date.now() : 0)),
  });
  const isSandbox = connector === SANDBOX;

  return (
    <div className="grid grid-cols-1 justify-items-start gap-3">
      <p className="text-sm text-ink-soft">{isSandbox ? sessionStrings.scanSandbox : sessionStrings.scan}</p>
      {error !== null ? (
        <Failure error={error} onRetry={refetch} />
      ) : data ? (
        <>
          <QrCode text={data.qr} label={sessionStrings.qr} />
          <Countdown until={data.expiresAt} />
        </>
      ) : (
        <div className="grid aspect-square w-full max-w-72 place-items-center rounded-lg bg-sunken p-6 text-sm text-ink-soft">
          {sessionStrings.noQr}
        </div>
      )}
      {isSandbox && (
        <LinkButton to="/simulator" search={{ session: sessionId }} size="small">
          {sessionStrings.openSimulator}
        </LinkButton>
      )}
    </div>
  );
}

function Countdown({ until }: { readonly until: string }) {
  const leftMs = Date.parse(until) - useNow();
  return (
    <p className="text-xs text-ink-faint tabular-nums">
      {leftMs > 0 ? sessionStrings.nextCode(duration(leftMs)) : sessionStrings.noQr}
    </p>
  );
}

function ByCode({ sessionId }: { readonly sessionId: string }) {
  const [phoneNumber, setPhoneNumber] = useState('');
  const ask = useMutation({ mutationFn: () => api.sessions.requestPairingCode({ sessionId, phoneNumber }) });
  return (
    <Form error={ask.error} fields={['phoneNumber']} onSubmit={() => ask.mutate()}>
      <h3 className="text-sm font-semibold">{sessionStrings.byCode}</h3>
      <p className="text-sm text-ink-soft">{sessionStrings.byCodeHint}</p>
      <TextField
        label={sessionStrings.pairingNumber}
        error={fieldError(ask.error, 'phoneNumber')}
        type="tel"
        required
        value={phoneNumber}
        onChange={(event) => setPhoneNumber(event.currentTarget.value)}
      />
      <div>
        <Button type="submit" busy={ask.isPending}>
          {sessionStrings.getCode}
        </Button>
      </div>
      {ask.data !== undefined && <Code code={ask.data.code} expiresAt={ask.data.expiresAt} />}
    </Form>
  );
}

function Code({ code, expiresAt }: { readonly code: string; readonly expiresAt: string }) {
  const leftMs = Date.parse(expiresAt) - useNow();
  if (leftMs <= 0) return <p className="text-sm text-ink-soft">{sessionStrings.codeExpired}</p>;
  return (
    <section aria-label={sessionStrings.pairingCode} className="grid gap-1">
      <div className="flex items-center gap-2">
        <output className="font-mono text-2xl font-semibold tracking-widest">{code}</output>
        <CopyButton text={code} />
      </div>
      <p className="text-xs text-ink-faint tabular-nums">{sessionStrings.codeExpires(duration(leftMs))}</p>
    </section>
  );
}
