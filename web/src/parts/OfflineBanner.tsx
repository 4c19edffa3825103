import "./OfflineBanner.css";

import { Icon } from "./Icon";
import { useOnline } from "./media";

/** A line under the header while the browser has no network. */
export function OfflineBanner() {
  const online = useOnline();
  return (
    <div role="status">
      {!online && (
        <p class="offline-banner">
          <Icon name="limit" />
          You are offline. Drafts are kept here; a submission is sent when the network is back.
        </p>
      )}
    </div>
  );
}
