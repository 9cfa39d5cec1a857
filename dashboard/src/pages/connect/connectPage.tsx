import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { Notice } from '../../components/notice.tsx';
import { Card, Page } from '../../components/page/layout.tsx';
import { Empty, Failure, isNotFound, LoadingLines } from '../../components/page/states.tsx';
import { useAccount } from '../../shell/account.ts';
import { LoginAgain } from '../../shell/loginAgain.tsx';
import { Wordmark } from '../../shell/wordmark.tsx';
import { AppFacts, appName } from './appFacts.tsx';
import { ConsentForm } from './consentForm.tsx';
import { connectStrings } from './strings.ts';

const route = getRouteApi('/connect/$requestId');

/** The page on which a person answers the request of an app. It has no navigation: the app waits for the answer. */
export function ConnectPage() {
  const { requestId } = route.useParams();
  const { email } = useAccount();
  const request = useQuery({
    queryKey: ['connection_request', requestId],
    queryFn: () => api.connections.getRequest({ requestId }),
    // An answered request is gone, but the page still shows what it was about.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const title = request.data === undefined ? connectStrings.app : connectStrings.title(appName(request.data));
  const answer = useMutation({
    mutationFn: async (send: () => Promise<{ redirectUrl: string }>) => {
      const { redirectUrl } = await send();
      // The server sends the browser on to the app.
      location.assign(redirectUrl);
    },
  });

  return (
    <main className="mx-auto max-w-3xl">
      <LoginAgain />
      <div className="px-4 pt-6 wide:px-10">
        <Wordmark />
      </div>
      <Page
        title={isNotFound(request.error) ? connectStrings.gone : title}
        lead={request.data && connectStrings.lead(email)}
      >
        {isNotFound(request.error) ? (
          <Card flush>
            <Empty title={connectStrings.goneHint} />
          </Card>
        ) : request.data === undefined ? (
          request.error === null ? (
            <LoadingLines />
          ) : (
            <Failure error={request.error} onRetry={request.refetch} />
          )
        ) : (
          <>
            <Card>
              <AppFacts request={request.data} />
            </Card>
            {answer.isSuccess ? (
              <Notice tone="good">{connectStrings.done}</Notice>
            ) : (
              <ConsentForm
                request={request.data}
                busy={answer.isPending}
                error={answer.error}
                onApprove={(choice) => answer.mutate(() => api.connections.approve({ requestId, ...choice }))}
                onDeny={() => answer.mutate(() => api.connections.deny({ requestId }))}
              />
            )}
          </>
        )}
      </Page>
    </main>
  );
}
