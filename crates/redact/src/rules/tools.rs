//! What tools are given on their command line, in front of a pipe, or in a call.

use super::commands::is_given;
use crate::rule::{RULE, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tool-password",
        about: "passwords that archives, keys of ssh, transfers and databases are given by an option",
        anchors: &[
            "ssh-keygen ",
            "zip ",
            "unzip ",
            "7z ",
            "sqlcmd ",
            "twine ",
            "htpasswd ",
            "lftp ",
            "smbclient ",
            "configure set ",
            "openssl ",
            "sqlplus ",
            "ncftp",
        ],
        edge: |byte| byte.is_ascii_alphanumeric(),
        shape: r"(?:ssh-keygen [^\n;|&]{0,120}?-[NP] |(?:un)?zip [^\n;|&]{0,80}?-P ?|7z [axe] (?:[^\n;|&]{0,80}? )?-p|sqlcmd [^\n;|&]{0,120}?-P ?|twine upload [^\n;|&]{0,120}?-p |htpasswd -[a-zA-Z]{0,4}b[a-zA-Z]{0,4} \S{1,64} \S{1,64} |lftp (?:[^\n;|&]{0,80}? )?-u [^\s,]{1,64},|smbclient [^\n;|&]{0,120}?-U ['\x22]?[^\s%]{1,64}%|openssl [a-z0-9]{2,8} [^\n;|&]{0,120}?(?:-k |pass:)|sqlplus (?:-[A-Za-z]{1,2} ){0,3}[A-Za-z][A-Za-z0-9_$#]{0,30}/|ncftp[a-z]{0,4} [^\n;|&]{0,80}?-p |configure set (?:[a-z0-9_.]{1,64}\.)?aws_(?:secret_access_key|session_token) )(?:'([^'\n\\]{3,256})'|\\?\x22([^\x22\n\\]{3,256})|([^\s'\x22\\(){}<>$%][^\s'\x22\\]{2,255}))",
        holds: is_given,
        found: &[
            "ssh-keygen -t ed25519 -N '⟦hunter2 heron⟧' -f k",
            "zip -r -P ⟦hunterheron⟧ a.zip a",
            "7z x -p⟦hunterheron⟧ a.7z",
            "sqlcmd -S h -U sa -P ⟦hunterheron⟧",
            "htpasswd -cb f ada ⟦hunterheron⟧",
            "lftp -u ada,⟦hunterheron⟧ h",
            "smbclient //h/s -U ada%⟦hunterheron⟧",
            "openssl enc -aes-256-cbc -k ⟦hunterheron⟧ -in a",
            "sqlplus ada/⟦hunterheron⟧ @x",
            "ncftpput -u ada -p ⟦hunterheron⟧ h",
            "aws configure set profile.x.aws_secret_access_key ⟦k3Jd8fLq2Wz7Xn5Rb1Tc9V⟧",
        ],
        passed: &[
            "ssh-keygen -N \"\" -f k",
            "zip -r a.zip src -P $SECRET",
            "a zip file of 12 MB",
            "7z x a.7z",
            "sqlcmd -S h -P",
            "htpasswd -c f ada",
            "openssl req -newkey rsa:2048 -keyout k.pem",
            "sqlplus /nolog",
            "aws configure set region eu-west-1",
        ],
        ..RULE
    },
    Rule {
        id: "piped-password",
        about: "passwords that are written into a pipe, or masked in the log of a build",
        anchors: &["echo ", "add-mask::"],
        edge: |byte| byte.is_ascii_alphanumeric(),
        shape: r"(?:echo (?:-n )?\\?['\x22]?([^\s'\x22\\|$]{3,128})\\?['\x22]? ?\| ?(?:sudo -S|[a-z]{2,10} [^\n|;&]{0,80}?--(?:password-stdin|with-token))|add-mask::([^\s'\x22\\$]{3,256}))",
        holds: is_given,
        found: &[
            "echo '⟦hunterheron⟧' | docker login -u ada --password-stdin",
            "echo ⟦hunterheron⟧ | sudo -S ls",
            "::add-mask::⟦hunterheron⟧",
        ],
        passed: &[
            "echo done | tee x",
            "echo $SECRET | docker login --password-stdin",
            "::add-mask::$SECRET",
        ],
        ..RULE
    },
    Rule {
        id: "connection-call",
        about: "passwords behind the address and the user in a call, and in the code of a network",
        anchors: &["getConnection(", "WIFI:"],
        shape: r"(?:getConnection\(\s{0,16}\\?\x22jdbc:[^\x22\n]{1,300}\x22,\s{0,16}\\?\x22[^\x22\n]{1,64}\x22,\s{0,16}\\?\x22([^\x22\n\\]{3,128})|WIFI:[^\n]{0,120}?P:([^;\n]{3,128});)",
        edge: |byte| byte.is_ascii_alphanumeric(),
        found: &[
            "DriverManager.getConnection(\"jdbc:mysql://h/x\", \"ada\", \"⟦hunterheron⟧\")",
            "WIFI:T:WPA;S:net;P:⟦hunterheron⟧;;",
        ],
        passed: &[
            "getConnection(\"jdbc:mysql://h/x\", user, password)",
            "WIFI: on; P: 2",
            "getConnection(\"jdbc:mysql://h/x\", \"user\", \"password\")",
        ],
        ..RULE
    },
];
