//! Who may talk to the server, and what they get: faults X1, X2, X3, X5, X6, X10 and X13.

use std::fs;

use serde_json::json;

use crate::common::{Running, Wish, label, make, new, serve};

fn port(server: &Running) -> &str {
    server.address.address.rsplit(':').next().unwrap()
}

#[test]
fn only_names_of_this_machine_are_answered() {
    let (_folder, server) = new(&Wish::default());
    let (bearer, port) = (server.bearer(), port(&server).to_string());
    for good in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"] {
        let host = format!("{good}:{port}");
        assert_eq!(
            server
                .send(
                    "GET",
                    "/api/v1/project",
                    &[("authorization", &bearer), ("host", &host)],
                    None
                )
                .status,
            200,
            "{host}"
        );
    }
    let long = "a".repeat(300);
    let names = [
        "evil.com",
        "127.0.0.1.nip.io",
        "0.0.0.0",
        "localhost.",
        "localhost.evil.com",
        "127.0.0.2",
        "[::]",
        "10.0.0.1",
        "127.1",
        "2130706433",
        "localhost@evil.com",
        "evil.com@localhost",
        "[::ffff:127.0.0.1]",
        "",
        "xn--localhost",
        &long,
    ];
    for name in names {
        for host in [name.to_string(), format!("{name}:{port}")] {
            let answer = server.send(
                "GET",
                "/api/v1/project",
                &[("authorization", &bearer), ("host", &host)],
                None,
            );
            // An empty or impossible host may be refused by HTTP itself.
            assert!(
                answer.status == 400 || answer.problem() == (421, "X1".into()),
                "{host}: {answer:?}"
            );
        }
    }
    for host in [
        "localhost",
        "127.0.0.1",
        "[::1]",
        "localhost:1",
        "127.0.0.1:80",
    ] {
        let answer = server.send(
            "GET",
            "/",
            &[("authorization", &bearer), ("host", host)],
            None,
        );
        assert_eq!(answer.problem(), (421, "X1".into()), "another port: {host}");
    }
    // The request line may name a host as well, and the header may come twice.
    let twice = format!(
        "GET / HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nhost: evil.com\r\nconnection: close\r\n\r\n"
    );
    assert_ne!(server.raw(twice.as_bytes()).status, 200);
    let absolute = format!(
        "GET http://evil.com/ HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n"
    );
    assert_eq!(server.raw(absolute.as_bytes()).status, 421);
    let none = "GET / HTTP/1.1\r\nconnection: close\r\n\r\n";
    assert_ne!(server.raw(none.as_bytes()).status, 200);
}

#[test]
fn another_page_cannot_write_or_read() {
    let (_folder, server) = new(&Wish::default());
    let browser = server.sign_in(&server.link);
    let ours = format!("http://{}", server.address.address);
    let body = label("k", "", "3", 0).to_string();
    // Even one that could sign, and a program: a browser tells where a request comes from.
    let bearer = server.bearer();
    let send = |headers: &[(&str, &str)]| {
        let signed = browser.authorization("POST", "/api/v1/decisions", &body);
        let all = [
            ("authorization", signed.as_str()),
            ("x-dial", &browser.project),
            ("x-dial-place", &browser.place),
        ];
        let all: Vec<(&str, &str)> = all.into_iter().chain(headers.iter().copied()).collect();
        server.send("POST", "/api/v1/decisions", &all, Some(body.as_bytes()))
    };
    let json = ("content-type", "application/json");
    let origins = [
        "http://evil.com",
        "null",
        "https://127.0.0.1",
        "http://localhost",
        "http://127.0.0.1:1",
        "",
        "file://",
        "http://[::1]",
    ];
    for origin in origins {
        assert_eq!(
            send(&[json, ("origin", origin)]).problem(),
            (403, "X2".into()),
            "{origin}"
        );
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(
            send(&[json, ("sec-fetch-site", site)]).problem(),
            (403, "X2".into())
        );
        let headers = [("authorization", bearer.as_str()), ("sec-fetch-site", site)];
        let read = server.send("GET", "/api/v1/project", &headers, None);
        assert_eq!(read.problem(), (403, "X2".into()));
    }
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
    ] {
        assert_eq!(
            send(&[("content-type", kind), ("origin", &ours)]).problem(),
            (415, "U0".into()),
            "{kind}"
        );
    }
    for method in ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"] {
        let signed = browser.authorization(method, "/api/v1/decisions", "");
        let headers = [
            ("authorization", signed.as_str()),
            ("x-dial", &browser.project),
            ("x-dial-place", &browser.place),
            ("origin", &ours),
        ];
        let answer = server.send(method, "/api/v1/decisions", &headers, None);
        assert!(answer.status >= 400, "{method}");
        assert!(answer.header("access-control-allow-origin").is_none());
    }
    assert_eq!(
        server.get("/api/v1/project").ok()["labelled"],
        0,
        "nothing of this was stored"
    );
    send(&[json, ("origin", &ours)]).ok();
    send(&[json, ("sec-fetch-site", "same-origin")]).ok();
    assert_eq!(server.get("/api/v1/project").ok()["labelled"], 1);
}

#[test]
fn nobody_gets_in_without_a_signature_or_the_token() {
    let (folder, server) = new(&Wish::default());
    let browser = server.sign_in(&server.link);
    let document: serde_json::Value = serde_json::to_value(dial_server::document()).unwrap();
    let guessed = format!(
        "Dial {}.n.{}.{}",
        browser.session,
        "0".repeat(64),
        "0".repeat(64)
    );
    let owner = guessed.replace(&browser.session, "owner");
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            for given in [
                "",
                "Bearer x",
                "Basic eDp4",
                "Dial",
                "Dial a.b.c",
                &guessed,
                &owner,
            ] {
                let headers = [("authorization", given), ("cookie", "dial-1=x")];
                let answer = server.send(&method.to_uppercase(), path, &headers, Some(b"{}"));
                assert_eq!(answer.status, 401, "{method} {path} {given}");
                assert!(answer.header("x-dial-proof").is_none());
                tried += 1;
            }
        }
    }
    assert!(tried >= 150, "every path of the document was tried");
    for path in [
        "/api/v1/openapi.json",
        "/nothing",
        "/launch?code=x",
        "/api/v1/../../etc/passwd",
    ] {
        assert_eq!(server.send("GET", path, &[], None).status, 401, "{path}");
    }
    // A browser cannot make links for others; a link is good once.
    assert_eq!(
        server.try_sign_in(&server.link).problem(),
        (401, "X13".into())
    );
    let launch = server.signed(&browser, "POST", "/api/v1/launch", "{}");
    assert_eq!(launch.problem(), (404, "X10".into()));
    let another = server.post("/api/v1/launch", &json!({})).ok();
    let other = server.sign_in(another.as_str().unwrap());
    assert!(other.session != browser.session && other.key != browser.key);
    server.signed(&browser, "GET", "/api/v1/project", "").ok();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for name in ["server.json", "sessions.key"] {
            let file = fs::metadata(folder.path().join("p.dial").join(name)).unwrap();
            assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
        }
    }
    let (token, key) = (server.address.token.clone(), browser.key);
    let project = folder.path().join("p.dial");
    server.stop();
    assert!(
        !project.join("server.json").exists(),
        "the token is gone with the server"
    );
    let root: serde_json::Value =
        serde_json::from_slice(&fs::read(project.join("sessions.key")).unwrap()).unwrap();
    let root = root["secret"].as_str().unwrap().to_string();
    for file in fs::read_dir(&project)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && !path.ends_with("sessions.key"))
    {
        let bytes = fs::read(&file).unwrap();
        for hidden in [&token, &key, &root] {
            assert!(
                !bytes
                    .windows(hidden.len())
                    .any(|part| part == hidden.as_bytes()),
                "{}",
                file.display()
            );
        }
    }
}

#[test]
fn every_answer_carries_the_headers() {
    let (_folder, server) = new(&Wish::default());
    let bearer = server.bearer();
    for (path, headers) in [
        ("/", vec![("authorization", bearer.as_str())]),
        ("/api/v1/project", vec![]),
        ("/nothing", vec![]),
    ] {
        let answer = server.send("GET", path, &headers, None);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'")
                && policy.contains("frame-ancestors 'none'")
        );
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path} {name}");
        }
    }
}

#[test]
fn listening_elsewhere_is_refused() {
    for host in [
        "0.0.0.0",
        "::",
        "192.168.0.7",
        "example.com",
        "8.8.8.8",
        "",
        "127.0.0.1.evil.com",
        "fe80::1",
        "127.0.0.2",
    ] {
        let text = dial_server::check_host(host).unwrap_err();
        assert!(
            text.starts_with(&format!(
                "refusing to listen on {host} without an admin account and TLS."
            )),
            "{text}"
        );
    }
    for (host, address) in [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "127.0.0.1"),
        ("::1", "::1"),
    ] {
        assert_eq!(dial_server::check_host(host).unwrap().to_string(), address);
    }
}

#[test]
fn media_are_found_by_item_and_are_pictures_of_our_making() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = folder.path().join("pictures");
    fs::create_dir_all(pictures.join("sub")).unwrap();
    fs::write(folder.path().join("secret.txt"), "secret").unwrap();
    for number in 0..12u8 {
        let rgb = (0..12 * 12 * 3)
            .map(|at| (at as u8).wrapping_mul(number + 1))
            .collect();
        let png = dial_data::media::images::Bitmap {
            width: 12,
            height: 12,
            rgb,
        }
        .to_png();
        // A polyglot: a picture that is followed by a page.
        let bytes = [png, b"<html><script>alert(1)</script></html>".to_vec()].concat();
        fs::write(
            pictures
                .join(if number < 6 { "" } else { "sub" })
                .join(format!("p{number} <b>.png")),
            bytes,
        )
        .unwrap();
    }
    let wish = Wish {
        pool: pictures.display().to_string(),
        ..Wish::default()
    };
    let project = folder.path().join("p.dial");
    make(&project, &wish);
    let server = serve(&project, None);
    let good = server.get("/api/v1/media?id=sub%2Fp7%20%3Cb%3E.png");
    assert_eq!(
        (good.status, good.header("content-type")),
        (200, Some("image/png"))
    );
    assert!(
        good.header("content-security-policy")
            .unwrap()
            .contains("sandbox")
    );
    assert!(
        !good.body.windows(6).any(|part| part == b"script"),
        "nothing but the picture"
    );
    let ups = [
        "..",
        "%2e%2e",
        "..%2f",
        "%2e%2e%2f",
        "..%5c",
        "%252e%252e%252f",
        "....//",
        "..%c0%af",
    ];
    let ends = [
        "secret.txt",
        "etc/passwd",
        "p.dial/project.db",
        "sub/../../secret.txt",
        "secret.txt%00.png",
    ];
    let mut tried = 0;
    for up in ups {
        for depth in 1..5 {
            for end in ends {
                let id = format!("{}{end}", format!("{up}/").repeat(depth));
                let answer = server.get(&format!("/api/v1/media?id={id}"));
                assert!(
                    answer.status >= 400 && answer.status < 500,
                    "{id}: {}",
                    answer.status
                );
                tried += 1;
            }
        }
    }
    let paths = [
        "/etc/passwd",
        "c:/windows/win.ini",
        "%5c%5chost%5cshare",
        "file:///etc/passwd",
        "p0",
        "sub",
        ".",
        "",
        "%00",
        "CON",
    ];
    for id in paths
        .iter()
        .map(|path| path.to_string())
        .chain(["x".repeat(7000)])
    {
        let answer = server.get(&format!("/api/v1/media?id={id}"));
        assert!(
            (400..500).contains(&answer.status),
            "{id}: {}",
            answer.status
        );
        tried += 1;
    }
    assert!(tried > 160);
    #[cfg(unix)]
    {
        // A picture that becomes a link out of the pool is not followed.
        let file = pictures.join("p1 <b>.png");
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret.txt"), &file).unwrap();
        assert_eq!(server.get("/api/v1/media?id=p1%20%3Cb%3E.png").status, 404);
    }
    // Another kind of file in its place is no picture, whatever its name says.
    fs::write(
        pictures.join("p2 <b>.png"),
        "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    )
    .unwrap();
    assert_eq!(server.get("/api/v1/media?id=p2%20%3Cb%3E.png").status, 404);
}
