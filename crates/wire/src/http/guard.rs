//! Who may use a port of this machine: what every server on one has to check (2025-11-25, Streamable HTTP,
//! "Security Warning").

use std::net::IpAddr;

/// Why a request does not come from a client of ours: a web page that was led here has a foreign `Host`
/// (a name that was bound to this address), or the `Origin` of a page elsewhere, or `null`, which a frame
/// in it can have. An address in `Host` is fine: nobody else can bind it. So are origins of programs with
/// pages inside, `vscode-webview://…` or `file://`. `is_ours` says which authorities are ours besides;
/// `site` is `Sec-Fetch-Site`.
pub fn foreign(
    host: Option<&str>,
    origin: Option<&str>,
    site: Option<&str>,
    is_ours: impl Fn(&str) -> bool,
) -> Option<String> {
    let is_known =
        |authority: &str| is_ours(authority) || host_of(authority).parse::<IpAddr>().is_ok();
    if let Some(host) = host.filter(|host| !is_known(host)) {
        return Some(format!(
            "the request is meant for {host}, which is not served here"
        ));
    }
    // An image or a link has no origin, but a browser says where it stands.
    let Some(origin) = origin else {
        let is_page = site == Some("cross-site");
        return is_page.then(|| "the request comes from a web page elsewhere".to_owned());
    };
    let is_page = match origin.split_once("://") {
        Some(("http" | "https", authority)) => {
            !matches!(host_of(authority), "localhost" | "127.0.0.1" | "::1")
        }
        Some(_) => false,
        None => true,
    };
    is_page.then(|| format!("the request comes from a web page at {origin}"))
}

/// The host of an authority, without its port and without brackets.
pub fn host_of(authority: &str) -> &str {
    if let Some((address, _)) = authority
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        return address;
    }
    authority.split(':').next().unwrap_or(authority)
}
